// The page of `s2s-ad show --port`: follows the file, and tries what is written in the editor.
(function () {
  "use strict";
  const root = document.querySelector(".s2s"), one = (query) => root.querySelector(query);
  const [expression, like] = ["expression", "like"].map((each) => one(`.ask [name=${each}]`));
  const edit = one(".ask [name=edit]"), yours = one(".yours");
  let editor = null, asked = 0, waiting = 0, failed = 0;

  const line = (place) => place.startsWith("0.") ? +place.slice(2) : 0;
  const explorer = s2sExplorer(root, {
    lit(marks) {
      if (!editor || !editing()) return;
      const made = marks.map((each) => ({ line: line(each.place), name: each.also ? "on also" : "on" }));
      const bad = root.querySelector(".made section:not([hidden])");
      if (bad && bad.dataset.caret) made.push({ line: line(bad.dataset.caret), name: "bad" });
      const lines = new Map(made.filter((each) => each.line).map((each) => [each.line, each]));
      editor.light([...lines.values()]);
    },
    rect: (place) => (editor && editing() && line(place) ? editor.rect(line(place)) : null),
  });
  const editing = () => yours.classList.contains("editing");

  async function post(what, body) {
    const answer = await fetch(what, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }

  async function attempt() {
    const mine = ++asked;
    root.classList.add("working");
    try {
      const text = editor && editing() ? editor.text() : null;
      const made = await post("try", { text, expression: expression.value, like: like.value });
      if (mine === asked) await put(made.html);
    } catch (error) {
      one("[role=status]").textContent = error.message;
    } finally {
      if (mine === asked) root.classList.remove("working");
    }
  }

  async function put(html) {
    const other = new DOMParser().parseFromString(html, "text/html").querySelector(".s2s");
    const had = editor && editor.view.hasFocus;
    await explorer.update(other);
    if (had) editor.focus();
  }

  const soon = () => { clearTimeout(waiting); waiting = setTimeout(attempt, 350); };
  expression.addEventListener("input", soon);
  like.addEventListener("input", soon);
  one(".ask").addEventListener("submit", (event) => { event.preventDefault(); attempt(); });

  edit.addEventListener("click", async () => {
    if (!editor) {
      const answer = await fetch("source");
      const parent = document.createElement("div");
      parent.className = "editor";
      yours.append(parent);
      editor = s2sEditor(parent, await answer.text(), {
        changed: soon,
        hovered: (number) => explorer.hover("0." + number),
      });
      parent.addEventListener("scroll", explorer.redraw, { passive: true, capture: true });
    }
    yours.classList.toggle("editing");
    edit.setAttribute("aria-pressed", String(editing()));
    if (editing()) editor.focus();
    attempt();
  });

  async function watch(version) {
    for (;;) {
      try {
        const answer = await fetch("changes?after=" + version);
        if (!answer.ok) return;
        const news = await answer.json();
        failed = 0;
        if (news.version !== version && !editing()) attempt();
        version = news.version;
      } catch (error) {
        if (++failed > 5) { one("[role=status]").textContent = "the server has stopped"; return; }
        await new Promise((done) => setTimeout(done, 1000));
      }
    }
  }
  if (root.parentElement.dataset.watch) watch(+root.parentElement.dataset.watch);
})();
