// Numbers as the tables of the page print them.

/** Four significant digits, with narrow spaces between thousands; a dash for none. */
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) return value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("-", "−");
  const decimals = Math.max(digits - 1 - Math.floor(Math.log10(size)), 0);
  const [whole, part] = value.toFixed(decimals).split(".") as [string, string?];
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const rest = part?.replace(/0+$/, "");
  return (rest ? `${grouped}.${rest}` : grouped).replace("-", "−");
}

/** At most `count` round numbers that cover a range, ascending. */
export function ticks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= raw * 0.999_999) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // from whole multiples, so that 0.3 is not 0.30000000000000004
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** An interval after its mean: ` ± 0.1`, or ` [0.8, 1]` where its sides differ. */
export function intervalWords(mean: number, low: number, high: number): string {
  const half = (high - low) / 2;
  if (Math.abs(high - mean - (mean - low)) <= 0.02 * half) return ` ± ${number(half, 2)}`;
  const step = 10 ** (Math.floor(Math.log10(half)) - 1);
  return ` [${[low, high].map((end) => number(Math.round(end / step) * step, 6)).join(", ")}]`;
}
