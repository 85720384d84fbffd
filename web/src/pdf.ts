// A scene as a PDF document of one page: vector lines, and text in Helvetica, which readers supply (ISO 32000-1, 9.6.2.2).

import { INK, round, widthOf, type Primitive, type Scene } from "./scene";

/** The bytes of the document; the same scene gives the same bytes. */
export function pdf(scene: Scene): Uint8Array<ArrayBuffer> {
  const content = [`1 1 1 rg 0 0 ${scene.width} ${scene.height} re f`, ...scene.primitives.map((one) => drawn(one, scene.height))].join("\n");
  const font = (name: string) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${scene.width} ${scene.height}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    font("Helvetica"),
    font("Helvetica-Bold"),
  ];
  let text = "%PDF-1.4\n";
  const places: number[] = [];
  objects.forEach((object, index) => {
    places.push(text.length);
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
  });
  const table = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const place of places) text += `${String(place).padStart(10, "0")} 00000 n \n`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function drawn(one: Primitive, height: number): string {
  switch (one.kind) {
    case "line":
      return `${colour(one.colour)} RG ${one.width} w [${one.dash.join(" ")}] 0 d ${path(one.points, height)} S`;
    case "area":
      return `${colour(one.colour, one.opacity)} rg ${path(one.points, height)} f`;
    case "box":
      return `${colour(one.colour)} rg ${round(one.x)} ${round(height - one.y - one.height)} ${round(one.width)} ${round(one.height)} re f`;
    case "text": {
      const shift = { start: 0, middle: 0.5, end: 1 }[one.anchor] * widthOf(one.text, one.size);
      const [x, y] = one.turned ? [one.x, height - one.y - shift] : [one.x - shift, height - one.y];
      const turn = one.turned ? "0 1 -1 0" : "1 0 0 1";
      return `BT ${colour(one.colour ?? INK)} rg /${one.bold ? "F2" : "F1"} ${one.size} Tf ${turn} ${round(x)} ${round(y)} Tm (${winAnsi(one.text)}) Tj ET`;
    }
  }
}

function path(points: readonly number[], height: number): string {
  const steps: string[] = [];
  for (let at = 0; at + 1 < points.length; at += 2) steps.push(`${round(points[at]!)} ${round(height - points[at + 1]!)} ${at === 0 ? "m" : "l"}`);
  return steps.join(" ");
}

/** A colour, or what it looks like on white where it is transparent. */
function colour(hex: string, opacity = 1): string {
  return [1, 3, 5].map((at) => round(1 - opacity * (1 - parseInt(hex.slice(at, at + 2), 16) / 255))).join(" ");
}

/** Characters of WinAnsiEncoding, of which those above ASCII that charts use are mapped; others become a question mark. */
function winAnsi(text: string): string {
  const mapped = new Map([["\u202f", " "], ["−", "-"], ["–", "\\226"], ["µ", "\\265"], ["·", "\\267"], ["±", "\\261"], ["×", "\\327"]]);
  return [...text].map((letter) => mapped.get(letter) ?? (/[\\()]/.test(letter) ? `\\${letter}` : letter >= " " && letter <= "~" ? letter : "?")).join("");
}
