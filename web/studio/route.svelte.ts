// The place in the studio: the part of the address after `#`, as `#/edit/scenarios%2Fa.toml`.

class Route {
  #hash = $state(location.hash);

  constructor() {
    addEventListener("hashchange", () => (this.#hash = location.hash));
  }

  /** `edit` in `#/edit/a.toml`; empty at the start. */
  get page(): string {
    return this.#hash.split("/")[1] ?? "";
  }

  /** `a.toml` in `#/edit/a.toml`. */
  get of(): string {
    return decodeURIComponent(this.#hash.split("/")[2] ?? "");
  }

  go(page: string, of = ""): void {
    location.hash = to(page, of);
  }
}

export const to = (page: string, of: string | number = ""): string => `#/${page}${of === "" ? "" : `/${encodeURIComponent(of)}`}`;

export const route = new Route();
