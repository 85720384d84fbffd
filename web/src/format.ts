// Numbers as the tables of the page print them.

/** Significant digits of numbers, if all are known. */
export const DIGITS = 4;

/** Four significant digits, with narrow spaces between thousands; a dash for none. */
export function number(value: number | null | undefined, digits = DIGITS): string {
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

/** The least round number that is not below a positive one: the end of an axis that grows, which is full to two thirds at least. */
export function roundedUp(value: number): number {
  if (!(value > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((one) => one * power >= value * 0.999_999) ?? 10;
  return Number((step * power).toPrecision(12));
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

/**
 * A mean with its interval: `2.0 ± 0.1`, or `0.98 [0.91, 1.00]` where its sides differ; the mean alone without an interval.
 *
 * All numbers have the decimals of the half width, which has at most two significant digits. As `interval_text` of the
 * package: no `a ± b` has b > a if no part of the interval is negative, or a + b above 1 or 100 if none of the interval is.
 */
export function meanWords(mean: number, low: number | null, high: number | null, digits = DIGITS): string {
  if (low === null || high === null) return number(mean, digits);
  let half = (high - low) / 2;
  if (half <= 1e-12 * Math.abs(mean)) return `${number(mean, digits)} ± ${(0).toFixed(decimals(number(mean, digits)))}`;
  const power = exponent(Math.max(Math.abs(mean), Math.abs(low), Math.abs(high)), digits);
  if (power < -4 || power >= 9) {
    const scale = 10 ** -power;
    return `(${meanWords(mean * scale, low * scale, high * scale, digits)})e${power}`.replace("e-", "e−");
  }
  const equal = Math.abs(high - mean - (mean - low)) <= 0.02 * half;
  const ofMean = digits - 1 - exponent(Math.max(Math.abs(mean), half), digits);
  let places = 1 - exponent(half, 2);
  if (places > ofMean) places = -exponent(half, 1);
  if (places > ofMean + 2) {
    // too narrow for these digits: it is rounded outwards
    places = ofMean + 2;
    const scale = 10 ** places;
    half = Math.ceil(half * scale) / scale;
    [low, high] = [Math.floor(low * scale) / scale, Math.ceil(high * scale) / scale];
  }
  const [middle, width] = [rounded(mean, places), rounded(half, places)];
  const rounding = 1e-9 * 10 ** -places;
  const below = low >= 0 && width > middle + rounding;
  const above = [1, 100].some((limit) => high <= limit && limit < middle + width - rounding);
  if (equal && !below && !above) return sameDecimals([middle, width], places).join(" ± ");
  const [text, ...ends] = sameDecimals([middle, rounded(low, places), rounded(high, places)], places);
  return `${text} [${ends.join(", ")}]`;
}

/** The power of ten of the first digit of a positive number that is rounded to so many digits. */
function exponent(value: number, digits: number): number {
  return Number(value.toExponential(digits - 1).split("e")[1]);
}

function rounded(value: number, places: number): number {
  return places >= 0 ? Number(value.toFixed(places)) : Math.round(value * 10 ** places) / 10 ** places;
}

function decimals(text: string): number {
  return text.split(".")[1]?.length ?? 0;
}

/** Numbers with the same decimals, at most `places`, and narrow spaces between thousands. */
function sameDecimals(values: number[], places: number): string[] {
  let texts = values.map((value) => value.toFixed(Math.max(places, 0)));
  while (texts[0]!.includes(".") && texts.every((text) => text.endsWith("0"))) texts = texts.map((text) => text.slice(0, -1).replace(/\.$/, ""));
  return texts.map((text) => {
    const [whole, part] = text.replace(/^-(?=[0.]+$)/, "").split(".") as [string, string?];
    return [whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"), ...(part === undefined ? [] : [part])].join(".").replace("-", "−");
  });
}
