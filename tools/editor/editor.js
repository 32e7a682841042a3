// s2sEditor(parent, text, hooks): CodeMirror for Python, with lines that the explorer lights.
//
// hooks: changed(text) when the text was edited, hovered(line) when the mouse or the cursor comes to
// another line (counted from 1). What it returns: text(), light({line: phases}), rect(line), focus().
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null], class: "k" },
  { tag: tags.operatorKeyword, class: "k" },
  { tag: [tags.string, tags.special(tags.string)], class: "s" },
  { tag: tags.number, class: "n" },
  { tag: tags.comment, class: "c" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.definition(tags.variableName))], class: "d" },
]);

const theme = EditorView.theme({
  "&": { color: "inherit", backgroundColor: "transparent", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "13px/1.62 var(--mono)", fontVariantLigatures: "none" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.15rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--faint)", border: "0", minWidth: "2.9rem" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.6rem 0 0", minWidth: "2.9rem" },
  ".cm-line": { padding: "0 1rem 0 0.9rem" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--f) 24%, transparent) !important",
  },
  ".cm-matchingBracket": { outline: "1px solid var(--rule)", backgroundColor: "transparent !important" },
});

const setLit = StateEffect.define();
const lit = StateField.define({
  create: () => Decoration.none,
  update(found, change) {
    found = found.map(change.changes);
    for (const effect of change.effects) {
      if (!effect.is(setLit)) continue;
      const lines = effect.value.filter((each) => each.line <= change.state.doc.lines)
        .sort((a, b) => a.line - b.line);
      found = Decoration.set(lines.map((each) =>
        Decoration.line({ class: each.name }).range(change.state.doc.line(each.line).from)));
    }
    return found;
  },
  provide: (field) => EditorView.decorations.from(field),
});

window.s2sEditor = function (parent, text, hooks) {
  let line = 0;
  const come = (number) => {
    if (number !== line) { line = number; hooks.hovered(number); }
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), bracketMatching(), python(), lit, theme,
        indentUnit.of("    "), EditorState.tabSize.of(4), syntaxHighlighting(colours),
        EditorView.contentAttributes.of({ "aria-label": "your code, editable" }),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) hooks.changed(update.state.doc.toString());
          else if (update.selectionSet) come(update.state.doc.lineAt(update.state.selection.main.head).number);
        }),
        EditorView.domEventHandlers({
          mousemove(event, at) {
            const place = at.posAtCoords({ x: event.clientX, y: event.clientY }, false);
            come(at.state.doc.lineAt(place).number);
          },
        }),
      ],
    }),
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    light: (lines) => view.dispatch({ effects: setLit.of(lines) }),
    rect(number) {
      if (number > view.state.doc.lines) return null;
      const block = view.lineBlockAt(view.state.doc.line(number).from);
      const top = view.documentTop + block.top;
      return { top, bottom: top + block.height };
    },
    focus: () => view.focus(),
  };
};
