// Tables of the site are sorted by a column when its head is clicked; once more, in the opposite order.
document.addEventListener("DOMContentLoaded", () => {
  /** What a cell is sorted by: the share of rows that pass in `45 ✓ 6 ✗ 2 ◐`, a number, or its text. */
  const keyOf = (cell) => {
    const text = cell.textContent.trim();
    const counts = ["✓", "✗", "◐"].map((sign) => Number((text.match(new RegExp(`(\\d+) ${sign}`)) || [0, 0])[1]));
    const rows = counts[0] + counts[1] + counts[2];
    if (rows > 0) return counts[0] / rows;
    const number = parseFloat(text);
    return text === "–" || text === "" ? -Infinity : Number.isNaN(number) ? text.toLowerCase() : number;
  };
  const compare = (one, other) =>
    typeof one === typeof other ? (one < other ? -1 : one > other ? 1 : 0) : typeof one === "number" ? -1 : 1;
  for (const table of document.querySelectorAll("article table")) {
    const body = table.tBodies[0];
    if (!table.tHead || !body || body.rows.length < 4 || body.querySelector("[colspan], [rowspan]")) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.textContent.trim() === "") return;
      head.classList.add("sortable");
      head.tabIndex = 0;
      const sort = () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
        rows.sort(([one], [other]) => (down ? compare(other, one) : compare(one, other)));
        body.append(...rows.map(([, row]) => row));
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter") sort();
      });
    });
  }
});
