// The editor of scenarios: TOML, completion from the schema, diagnostics under their lines.

import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, StateEffect, StateField, type Range, type Text } from "@codemirror/state";
import { Decoration, EditorView, keymap, lineNumbers, highlightActiveLine, WidgetType, type DecorationSet } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { post, type Diagnostic, type Option } from "./api";
import { marked } from "./words";

/** Text in which backticks mark code. */
function coded(text: string): (Node | string)[] {
  return marked(text).map(([part, isCode]) => {
    if (!isCode) return part;
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}

/** A diagnostic as text under its line. */
class Under extends WidgetType {
  constructor(readonly said: Diagnostic) {
    super();
  }
  override eq(other: Under): boolean {
    return JSON.stringify(other.said) === JSON.stringify(this.said);
  }
  override toDOM(): HTMLElement {
    const row = document.createElement("div");
    row.className = `under ${this.said.severity}`;
    const told = document.createElement("div");
    told.append(...coded(this.said.message));
    row.append(told);
    if (this.said.hint) {
      const hint = document.createElement("em");
      hint.append(...coded(this.said.hint));
      told.append(hint);
    }
    return row;
  }
}

const told = StateEffect.define<readonly Diagnostic[]>();

const under = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, change) {
    let next = shown.map(change.changes);
    for (const effect of change.effects) {
      if (!effect.is(told)) continue;
      const rows: Range<Decoration>[] = effect.value
        .filter((one) => one.line !== null && one.line <= change.state.doc.lines)
        .map((one) => Decoration.widget({ widget: new Under(one), block: true, side: 1 }).range(change.state.doc.line(one.line!).to));
      next = Decoration.set(rows, true);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The part of the text that a diagnostic is about: from its column to the end of the word or string. */
function place(doc: Text, one: Diagnostic): { from: number; to: number } {
  const line = doc.line(Math.min(Math.max(one.line ?? 1, 1), doc.lines));
  // columns count characters, places in the editor UTF-16 units
  const before = Array.from(line.text).slice(0, Math.max((one.column ?? 1) - 1, 0)).join("").length;
  const rest = line.text.slice(before);
  const word = /^(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|\[+[^\]]*\]*|[\w.+:-]+|.)/.exec(rest)?.[0].length ?? 0;
  return { from: line.from + before, to: line.from + before + word };
}

const KINDS: Record<string, string> = { property: "property", enum: "enum", text: "constant", keyword: "keyword", namespace: "namespace" };

async function options(context: CompletionContext): Promise<CompletionResult | null> {
  const before = context.state.sliceDoc(0, context.pos);
  if (!context.explicit && !/[\w."'=[{,]\s*$/.test(before)) return null;
  const after = context.state.sliceDoc(context.pos);
  let found: { written: string; options: Option[] };
  try {
    found = await post("complete", { before, after });
  } catch {
    return null;
  }
  if (context.aborted || found.options.length === 0) return null;
  const quote = /^["']/.exec(found.written)?.[0];
  return {
    from: context.pos - found.written.length,
    // a closing quote that the editor has put there is replaced too
    ...(quote && after.startsWith(quote) ? { to: context.pos + 1 } : {}),
    options: found.options.map((one) => ({
      label: one.label,
      type: KINDS[one.type] ?? "text",
      detail: one.detail,
      apply: one.apply,
      boost: one.boost,
      ...(one.info ? { info: one.info } : {}),
    })),
    validFor: /^["']?[\w.+-]*$/,
  };
}

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--half)" },
  { tag: tags.propertyName, color: "var(--ink)" },
  { tag: tags.bracket, color: "var(--water)" },
  { tag: [tags.keyword, tags.atom], color: "var(--water)" },
]);

const theme = EditorView.theme({
  "&": { fontSize: ".86rem", backgroundColor: "var(--card)", color: "var(--ink)", height: "100%" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: ".7rem 0" },
  "&.cm-focused": { outline: "2px solid var(--water)", outlineOffset: "-2px" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--soft)", border: "0", paddingRight: ".3rem" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--water-soft) 45%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "color-mix(in srgb, var(--water) 28%, transparent)" },
  ".cm-tooltip": { background: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "8px", overflow: "hidden", boxShadow: "0 4px 18px rgb(0 0 0 / .14)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: ".8rem", maxHeight: "16rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: ".15rem .6rem" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--water)", color: "var(--paper)" },
  ".cm-completionDetail": { color: "inherit", opacity: ".75", fontStyle: "normal", marginLeft: ".9em" },
  ".cm-completionInfo": { maxWidth: "24rem", padding: ".5rem .8rem", font: ".82rem/1.5 var(--sans)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1.3px", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--half) 1.3px", textUnderlineOffset: "3px" },
  // padding, since the editor does not measure margins
  ".under": { font: ".8rem/1.45 var(--sans)", padding: ".1rem .6rem .25rem .4rem", whiteSpace: "normal" },
  ".under > div": { padding: ".2rem .8rem .25rem .9rem", borderLeft: "3px solid", borderRadius: "0 6px 6px 0" },
  ".under.error > div": { background: "var(--bad-soft)", color: "var(--bad)" },
  ".under.warning > div": { background: "var(--half-soft)", color: "var(--half)" },
  ".under em": { display: "block", fontStyle: "normal" },
});

export interface Editor {
  readonly text: string;
  replace(text: string): void;
  tell(found: readonly Diagnostic[]): void;
  /** Puts the cursor at a line. */
  show(line: number): void;
  destroy(): void;
}

/** An editor in `parent`; `changed` is called after each edit, `run` and `save` by their keys. */
export function editor(parent: HTMLElement, text: string, on: { changed: () => void; run: () => void; save: () => void }): Editor {
  const act = (what: () => void) => () => (what(), true);
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        highlightActiveLine(),
        closeBrackets(),
        autocompletion({ override: [options], icons: false }),
        StreamLanguage.define(toml),
        syntaxHighlighting(colours),
        theme,
        under,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "text of the scenario", tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => update.docChanged && on.changed()),
        keymap.of([
          { key: "Mod-s", run: act(on.save), preventDefault: true },
          { key: "Mod-Enter", run: act(on.run) },
          // without a list of completions Tab leaves the editor
          { key: "Tab", run: acceptCompletion },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...lintKeymap,
          ...defaultKeymap,
        ]),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    replace: (whole) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: whole } }),
    tell(found) {
      const { doc } = view.state;
      const marks = found.filter((one) => one.line !== null).map((one) => ({ ...place(doc, one), severity: one.severity, message: one.message }));
      view.dispatch(setDiagnostics(view.state, marks), { effects: told.of(found) });
    },
    show(line) {
      const at = view.state.doc.line(Math.min(line, view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
