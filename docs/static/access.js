// What the theme leaves out for keyboards and screen readers: names of its two sides, and a stop at what scrolls sideways.
document.addEventListener("DOMContentLoaded", () => {
  for (const [side, words] of [["sidebar-drawer", "pages"], ["toc-drawer", "on this page"]]) {
    document.querySelector(`aside.${side}`)?.setAttribute("aria-label", words);
  }
  const stops = () => {
    for (const one of document.querySelectorAll("article pre, article .table-wrapper, article .math-wrapper")) {
      if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  };
  stops();
  addEventListener("resize", stops);
});
