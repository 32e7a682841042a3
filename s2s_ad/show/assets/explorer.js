// Lights what belongs together. Hooks, for a page with an editor: `lit(marks)` is told which of the
// user's lines are lit, and `rect(place)` says where one is, when the list of lines is not shown.
function s2sExplorer(root, hooks) {
  "use strict";
  hooks = hooks || {};
  const all = (query, at) => [...(at || root).querySelectorAll(query)];
  const one = (query, at) => (at || root).querySelector(query);
  const panes = one(".panes"), links = one(".links"), status = one("[role=status]");
  const tabs = () => all("[role=tab]");
  let yours = new Map(); // place -> line of the user's
  let active = null, pinned = false, family = "", chosen = "";
  const cache = new WeakMap(); // panel -> what is asked of it often

  let number = 0;
  function setUp() {
    yours = new Map(all(".yours .l[data-i]").map((line) => [line.dataset.i, line]));
    for (const line of all(".l:not(.caret):not([id])")) {
      line.id = root.id + "-l" + number++;
      line.setAttribute("role", "option");
      line.setAttribute("aria-selected", "false");
    }
  }
  async function unpack(panel) {
    if (!panel.dataset.packed) return;
    const bytes = Uint8Array.from(atob(panel.dataset.packed), (each) => each.charCodeAt(0));
    delete panel.dataset.packed;
    const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    panel.innerHTML = await new Response(text).text();
    setUp();
  }
  const shownPanel = () => all("[role=tabpanel]").find((each) => !each.hidden);
  const linesOf = (list) => all(".l:not(.caret)", list);
  const keysOf = (line) => (line.dataset.k || "").split(" ").filter(Boolean);
  const phaseOf = (line) => ["f", "b", "t"].find((each) => line.classList.contains(each)) || "x";
  const isYours = (line) => "i" in line.dataset;

  function known(panel) {
    if (!cache.has(panel)) {
      const byPlace = new Map(), names = {};
      for (const each of (panel.dataset.names || "").split(" ").filter(Boolean)) {
        const [name, made_of] = each.split(":");
        names[name] = made_of || name;
      }
      for (const line of linesOf(panel))
        for (const key of keysOf(line)) {
          if (!byPlace.has(key)) byPlace.set(key, []);
          byPlace.get(key).push(line);
        }
      cache.set(panel, { byPlace, names, roots: new Set(Object.values(names)) });
    }
    return cache.get(panel);
  }

  // ---- lines of one origin

  function light(line) {
    for (const each of all(".on, .at")) {
      each.classList.remove("on", "also", "at");
      each.setAttribute("aria-selected", "false");
    }
    active = line;
    panes.classList.toggle("pinned", pinned && !!line);
    point(null);
    if (!line) { status.textContent = ""; draw([], []); if (hooks.lit) hooks.lit([]); return; }
    const { byPlace } = known(shownPanel());
    const places = isYours(line) ? [line.dataset.i] : keysOf(line);
    const sources = places.map((each) => yours.get(each)).filter(Boolean);
    const made = places.length ? byPlace.get(places[0]) || [] : [];
    sources.forEach((each, place) => { each.classList.add("on"); each.classList.toggle("also", place > 0); });
    for (const each of made) each.classList.add("on");
    for (const each of [...sources, ...made]) each.setAttribute("aria-selected", "true");
    line.classList.add("on", "at");
    if (hooks.lit) hooks.lit(sources.map((each, place) => ({ place: each.dataset.i, also: place > 0 })));
    line.parentElement.setAttribute("aria-activedescendant", line.id);
    point(line, sources[0]);
    say(line, sources[0], made);
    draw(sources.slice(0, 1), made);
  }

  // The very expression that a generated line comes from, where the browser can mark a range.
  function point(line, source) {
    if (!window.Highlight || !CSS.highlights) return;
    CSS.highlights.delete("s2s-here");
    if (!line || !source || !line.dataset.c) return;
    const [from, until] = line.dataset.c.split(" ").map(Number), range = document.createRange();
    const walker = document.createTreeWalker(one("code", source), NodeFilter.SHOW_TEXT);
    let at = 0, started = false;
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const end = at + text.length;
      if (!started && from < end) { range.setStart(text, from - at); started = true; }
      if (until <= end) { range.setEnd(text, until - at); break; }
      at = end;
    }
    if (started) CSS.highlights.set("s2s-here", new Highlight(range));
  }

  function say(line, source, made) {
    const counts = { f: 0, b: 0, t: 0, x: 0 };
    const first = made.filter((each) => keysOf(each)[0] === (source && source.dataset.i));
    for (const each of made) counts[phaseOf(each)]++;
    const words = { f: "forward", b: "backward", t: "tangent", x: made.some((each) => phaseOf(each) !== "x") ? "other" : "generated" };
    const parts = Object.keys(counts).filter((each) => counts[each])
      .map((each) => counts[each] + " " + words[each]);
    const kept = (isYours(line) ? first : [line]).map((each) => one("em, s", each) && all("em, s", each).map((e) => e.title))
      .filter(Boolean).flat();
    const where = source ? "line " + source.dataset.i.split(".")[1] : "no line of yours";
    status.textContent = "";
    const strong = document.createElement("b");
    strong.textContent = where;
    const lines = parts.length ? " → " + parts.join(", ") + (made.length === 1 ? " line" : " lines") : " → nothing is made of it";
    status.append(strong, (source ? lines : "") + (kept.length ? " · " + kept.slice(0, 3).join(" · ") : ""));
  }

  // ---- bands between the sides

  function draw(sources, made) {
    links.textContent = "";
    if (!sources.length || !made.length || getComputedStyle(links).display === "none") return;
    const box = panes.getBoundingClientRect();
    const edge = (element, side) => element.getBoundingClientRect()[side] - box.left;
    const from = edge(one(".yours"), "right"), to = edge(one(".made"), "left");
    const runs = [];
    for (const line of made) {
      const last = runs[runs.length - 1], span = within(line, box), phase = phaseOf(line);
      if (last && last.phase === phase && Math.abs(last.bottom - span.top) < 2) last.bottom = span.bottom;
      else runs.push({ phase, ...span });
    }
    for (const source of sources) {
      const span = within(source, box);
      for (const run of runs) {
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        const bend = (to - from) / 2;
        path.setAttribute("class", run.phase);
        path.setAttribute("d",
          `M${from},${span.top}C${from + bend},${span.top} ${to - bend},${run.top} ${to},${run.top}` +
          `L${to},${run.bottom}C${to - bend},${run.bottom} ${from + bend},${span.bottom} ${from},${span.bottom}Z`);
        links.append(path);
      }
    }
  }

  function within(line, box) {
    const own = (isYours(line) && hooks.rect && hooks.rect(line.dataset.i)) || line.getBoundingClientRect();
    const view = line.closest(".yours, .made").getBoundingClientRect();
    const limit = (y) => Math.min(Math.max(y, view.top), view.bottom) - box.top;
    return { top: limit(own.top), bottom: limit(own.bottom) };
  }

  const redraw = () => requestAnimationFrame(() => {
    const lit = all(".yours .on:not(.also)");
    draw(lit.slice(0, 1), active ? all(".on", shownPanel()) : []);
  });

  // ---- names

  function rootOf(element) {
    const { names, roots } = known(shownPanel()), text = element.textContent;
    return element.closest(".made") ? names[text] || "" : roots.has(text) ? text : "";
  }

  function lightName(name) {
    if (name === family) return;
    family = name;
    for (const each of all("b.same")) each.classList.remove("same");
    if (!name) return;
    for (const each of [...all(".yours .l b"), ...all(".l b", shownPanel())])
      if (rootOf(each) === name) each.classList.add("same");
  }

  function nextName() {
    if (!active) return;
    const names = [...new Set(all("b", active).map(rootOf).filter(Boolean))];
    const next = names[names.indexOf(family) + 1] || "";
    lightName(next);
    if (next) status.textContent = next + " and what is made of it: " +
      [...new Set(all("b.same").map((each) => each.textContent))].join(", ");
  }

  // ---- tabs

  async function select(tab, focus) {
    chosen = tab.textContent;
    await unpack(document.getElementById(tab.getAttribute("aria-controls")));
    for (const each of tabs()) {
      const on = each === tab;
      each.setAttribute("aria-selected", String(on));
      each.tabIndex = on ? 0 : -1;
      document.getElementById(each.getAttribute("aria-controls")).hidden = !on;
    }
    if (focus) tab.focus();
    const before = active && isYours(active) ? active : one(".yours .on:not(.also)");
    lightName("");
    marks();
    light(before && known(shownPanel()).byPlace.has(before.dataset.i) ? before : best());
  }

  function marks() {
    const panel = shownPanel(), { byPlace } = known(panel);
    for (const each of all(".yours .caret")) each.remove();
    for (const [place, line] of yours) {
      line.classList.remove("bad");
      const phases = new Set((byPlace.get(place) || []).map(phaseOf));
      const dots = one("u", line);
      dots.textContent = "";
      for (const each of ["f", "b", "t"].filter((each) => phases.has(each))) {
        const dot = document.createElement("span");
        dot.className = each;
        dots.append(dot);
      }
    }
    if (panel.dataset.caret) {
      const [place, from, until] = panel.dataset.caret.split(" "), line = yours.get(place);
      if (!line) return;
      line.classList.add("bad");
      const caret = document.createElement("div");
      caret.className = "l caret";
      caret.setAttribute("aria-hidden", "true");
      const text = one("code", line).textContent.slice(0, +from).replace(/[^\t]/g, " ");
      caret.innerHTML = "<i></i><u></u><code></code>";
      one("code", caret).textContent = text + "^".repeat(until - from);
      line.after(caret);
      reveal(line);
    }
  }

  // The line that says most at the first look: of both sweeps, and many lines that are seen.
  function best() {
    let found = null, most = 0;
    const end = one(".made").getBoundingClientRect().bottom;
    for (const [place, made] of known(shownPanel()).byPlace) {
      const own = made.filter((each) => keysOf(each)[0] === place);
      const seen = own.filter((each) => each.getBoundingClientRect().bottom <= end);
      const sweeps = seen.map(phaseOf).filter((each) => each !== "x");
      const score = 0.01 * own.length + sweeps.length + 100 * (new Set(sweeps).size > 1);
      if (yours.has(place) && score > most) { most = score; found = yours.get(place); }
    }
    return found;
  }

  // ---- the reader's hands

  root.addEventListener("mouseover", (event) => {
    const line = event.target.closest(".l:not(.caret)");
    if (!line || !root.contains(line)) return;
    if (!pinned && line !== active && (isYours(line) || keysOf(line).length)) light(line);
    lightName(event.target.tagName === "B" ? rootOf(event.target) : "");
  });

  root.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]"), line = event.target.closest(".l:not(.caret)");
    if (tab) select(tab);
    else if (line && !String(getSelection())) { pinned = !(pinned && line === active); light(line); follow(line); remember(); }
    else if (event.target.dataset.do) tools[event.target.dataset.do](event.target);
  });

  // The address of a pinned line, to be shared: #grad:20 is line 20 of that tab, #grad:-9 one of yours.
  const alone = root.classList.contains("whole");
  const keyOf = (panel) => panel.id.slice(root.id.length + 3);

  function remember() {
    if (!alone) return;
    const number = active && pinned ? linesOf(active.parentElement).indexOf(active) + 1 : 0;
    const place = number ? "#" + keyOf(shownPanel()) + ":" + (isYours(active) ? -number : number) : location.pathname;
    try { history.replaceState(null, "", place); } catch (error) { /* a page without an address */ }
  }

  async function recall() {
    const found = alone && /^#(\w+):(-?)(\d+)$/.exec(location.hash);
    const tab = found && document.getElementById(root.id + "-t-" + found[1]);
    if (!tab) return;
    await select(tab);
    const line = linesOf(one(".code", found[2] ? one(".yours") : shownPanel()))[found[3] - 1];
    if (!line) return;
    pinned = true;
    light(line);
    reveal(line);
    follow(line);
  }

  function follow(line) {
    const other = isYours(line) ? one(".on", shownPanel()) : one(".yours .on");
    if (other) reveal(other);
    redraw();
  }

  // Scroll the side that a line is on, and nothing around the page; at first what is around it, too.
  function reveal(line, amid) {
    const pane = line.closest(".yours, .made"), own = line.getBoundingClientRect();
    const view = pane.getBoundingClientRect();
    if (amid && own.bottom > view.bottom - 3 * own.height)
      pane.scrollTop += (own.top + own.bottom - view.top - view.bottom) / 2;
    else if (own.top < view.top) pane.scrollTop -= view.top - own.top + own.height;
    else if (own.bottom > view.bottom) pane.scrollTop += own.bottom - view.bottom + own.height;
  }

  function step(list, by) {
    const lines = linesOf(list).filter((each) => isYours(each) || keysOf(each).length);
    const at = lines.indexOf(active);
    const next = lines[at < 0 ? 0 : Math.min(Math.max(at + by, 0), lines.length - 1)];
    if (!next) return;
    light(next);
    reveal(next);
    follow(next);
  }

  function across(list) {
    const other = list.closest(".yours") ? one(".on", shownPanel()) : one(".yours .on");
    if (!other) return;
    other.closest(".code").focus();
    light(other);
    follow(other);
  }

  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest(".editor")) return;
    const list = event.target.closest(".code"), tab = event.target.closest("[role=tab]");
    const { key } = event;
    if (tab && (key === "ArrowRight" || key === "ArrowLeft")) {
      const every = tabs(), at = every.indexOf(tab) + (key === "ArrowRight" ? 1 : -1);
      select(every[(at + every.length) % every.length], true);
    } else if (list && key === "ArrowDown") step(list, 1);
    else if (list && key === "ArrowUp") step(list, -1);
    else if (list && key === "PageDown") step(list, 12);
    else if (list && key === "PageUp") step(list, -12);
    else if (list && (key === "ArrowRight" || key === "ArrowLeft")) {
      if ((key === "ArrowRight") === !!list.closest(".yours")) across(list); else return;
    } else if (list && (key === "Enter" || key === " ")) { pinned = !pinned; light(active); remember(); }
    else if (key === "Escape") { pinned = false; lightName(""); light(null); remember(); }
    else if (list && key === "n") nextName();
    else return;
    event.preventDefault();
  });

  root.addEventListener("focusin", (event) => {
    const list = event.target.closest && event.target.closest(".code");
    if (list && list === event.target && !(active && list.contains(active))) {
      const lit = one(".on", list);
      if (lit && !pinned) light(lit);
    }
  });

  const tools = {
    copy(button) {
      const text = linesOf(shownPanel()).map((each) => one("code", each).textContent).join("\n") + "\n";
      const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1200); };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => {});
    },
    theme() {
      const dark = getComputedStyle(root).colorScheme === "dark" ||
        (getComputedStyle(root).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
      root.dataset.theme = dark ? "light" : "dark";
    },
  };

  panes.addEventListener("scroll", redraw, { passive: true, capture: true });
  new ResizeObserver(() => { // what stands around it may give it another size
    if (active) reveal(active, true);
    redraw();
  }).observe(panes);
  setUp();
  marks();
  light(best());
  if (active) reveal(active, true);
  recall();

  return {
    // Show the elements of another page; the tab, and the line, stay those that they were.
    async update(other) {
      const place = active && (isYours(active) ? active.dataset.i : keysOf(active)[0]);
      for (const part of [".title", ".tabs", ".made"]) one(part).replaceChildren(...one(part, other).childNodes);
      for (const each of all(".yours > section")) each.remove();
      one(".yours").prepend(...all(".yours > section", other));
      pinned = false;
      setUp();
      const tab = tabs().find((each) => each.textContent === chosen);
      if (tab) await select(tab);
      marks();
      light(yours.get(place) || best());
    },
    hover(place) { if (!pinned && yours.has(place)) light(yours.get(place)); },
    redraw,
  };
}
