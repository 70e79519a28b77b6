"use strict";
// Lays out the data of the page. Everything from a record reaches the document by textContent alone.
(() => {
  const CHUNK = 100;
  const ROWS = 25;
  const OPEN_AT_ONCE = 400;
  const PRINTED = 2000;
  const MAX_MARKED = 2000;
  const GROUPS = {
    messages: "Messages",
    thoughts: "Thoughts",
    tools: "Tools",
    permissions: "Permissions",
    plans: "Plans",
    output: "Output",
    protocol: "Protocol",
  };
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const views = new Map();
  const shown = new Set(Object.keys(GROUPS).filter((group) => group !== "protocol"));
  let query = "";
  let hits = [];
  let hitsIn = new Map();
  let here = -1;

  // ---------------------------------------------------------------- the data in reading order

  const order = []; // every run ([run, -1]) and item ([run, item]), as one reads the page from the top
  const places = data.runs.map((run) => new Array(run.items.length));
  const starts = [];
  const texts = [];

  function walk(run) {
    starts[run] = order.push([run, -1]) - 1;
    data.runs[run].items.forEach((item, at) => {
      if ("r" in item) walk(item.r);
      else places[run][at] = order.push([run, at]) - 1;
    });
  }
  data.roots.forEach(walk);

  const placeOf = ([run, at]) => (at < 0 ? starts[run] : places[run][at]);
  const failed = new Set(data.failures);
  const isBad = ([run, at]) => (at < 0 ? failed.has(run) : data.runs[run].items[at].f === 1);
  const bad = order.filter(isBad);
  const isShown = (item) => shown.has(item.g) || item.f === 1;

  function textOf(place) {
    if (texts[place] === undefined) {
      const [run, at] = order[place];
      const told = data.runs[run];
      const said = at < 0 ? [told.name, told.task, told.status, told.facts, told.why, told.info, told.failure] : null;
      const item = told.items[at];
      const parts = said || [item.l, item.x, item.b, item.n, (item.s || []).map((part) => part.slice(1))];
      texts[place] = parts.flat(4).filter(Boolean).join("\n").toLowerCase();
    }
    return texts[place];
  }

  // ---------------------------------------------------------------- elements

  function make(tag, name, ...children) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children.filter((child) => child !== "" && child !== null));
    return element;
  }

  function button(name, does, ...children) {
    const element = make("button", name, ...children);
    element.type = "button";
    element.addEventListener("click", does);
    return element;
  }

  const badge = (text, tone) => (text ? make("span", `badge ${tone || ""}`, text) : "");

  function link(text) {
    let url = null;
    try {
      url = new URL(text);
    } catch {
      return text;
    }
    if (url.protocol !== "https:" && url.protocol !== "http:") return text;
    const anchor = make("a", "", text);
    anchor.href = url.href;
    anchor.rel = "noopener noreferrer";
    anchor.target = "_blank";
    return anchor;
  }

  function prose(text) {
    const pieces = text.split(/(https?:\/\/[^\s<>"'`\\]*[^\s<>"'`\\.,;:!?)\]}])/);
    return make("p", "prose", ...pieces.map((piece, at) => (at % 2 ? link(piece) : piece)));
  }

  function pairs(list) {
    const table = make("dl", "pairs");
    for (const [name, text] of list) table.append(make("dt", "", name), make("dd", "", text));
    return table;
  }

  function diff(text) {
    const classes = { "+": "added", "-": "removed", "@": "hunk" };
    const lines = text.split("\n").map((line) => make("span", classes[line[0]] || "", `${line}\n`));
    return make("pre", "diff", ...lines);
  }

  const SECTIONS = {
    text: prose,
    pairs,
    diff,
    code: (text) => make("pre", "", text),
    link: (text) => make("p", "", link(text)),
  };

  function sections(list) {
    return (list || []).map(([type, heading, content]) => {
      const part = make("div", "part", heading ? make("p", "heading", heading) : "", SECTIONS[type](content));
      if (part.lastChild.tagName === "PRE") part.lastChild.tabIndex = 0; // it may scroll: the keyboard must reach it
      return part;
    });
  }

  function fold(toggle, body, fill) {
    let filled = false;
    return (open) => {
      toggle.setAttribute("aria-expanded", String(open));
      body.hidden = !open;
      if (open && !filled) {
        filled = true;
        fill();
      }
      mark();
    };
  }

  const isOpen = (toggle) => toggle.getAttribute("aria-expanded") === "true";

  // ---------------------------------------------------------------- runs and items

  function itemLine(run, at) {
    const item = data.runs[run].items[at];
    const time = make("span", "time", item.t === undefined ? "" : `${item.t.toFixed(2)} s`);
    const words = make("span", "words", make("span", "title", item.x || ""), " ", badge(item.b, item.c), " ");
    if (item.n) words.append(make("span", "note", item.n));
    const toggle = button("line", () => open(!isOpen(toggle)), time, make("span", "label", item.l), words);
    if (item.d) toggle.append(make("span", "took", item.d));
    toggle.dataset.place = places[run][at];
    const body = make("div", "detail");
    const element = make("li", `item ${item.g} ${item.l}${item.f ? " bad" : ""}`, toggle, body);
    const open = item.s ? fold(toggle, body, () => body.append(...sections(item.s))) : () => {};
    body.hidden = true;
    if (item.s) open(item.o === 1);
    return { element, toggle, open };
  }

  function runView(run) {
    if (views.has(run)) return views.get(run);
    const told = data.runs[run];
    const found = make("span", "found");
    const name = make("span", "name", told.name);
    const toggle = button("line run-line", () => view.open(!isOpen(toggle)), name, badge(told.status, told.tone));
    toggle.append(make("span", "facts", told.facts.join(" · ")), found, make("span", "task", told.task));
    toggle.dataset.place = starts[run];
    const body = make("div", "run-body");
    const list = make("ol", "items");
    const element = make("div", `run ${told.tone}`, make("h3", "", toggle), body);
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", crumbOf(run));
    const view = { run, element, toggle, list, found, visible: [], from: 0, to: CHUNK, lines: new Map() };
    view.open = fold(toggle, body, () => {
      body.append(...runHead(told), list);
      refresh(view);
    });
    view.open(false);
    views.set(run, view);
    return view;
  }

  function crumbs(told) {
    const steps = told.crumb.map(([run, name]) =>
      make(
        "li",
        "",
        button("plain", () => jump([run, -1]), name),
      ),
    );
    const nav = make("nav", "crumbs", make("ol", "", ...steps));
    nav.setAttribute("aria-label", "Where this run is");
    return nav;
  }

  function runHead(told) {
    const parts = [];
    if (told.crumb.length > 1) parts.push(crumbs(told));
    if (told.why) parts.push(whyBox(told));
    const info = make("details", "info", make("summary", "", "About this run"));
    info.addEventListener("toggle", () => info.children.length > 1 || info.append(pairs(told.info)));
    if (told.info.length) parts.push(info);
    return parts;
  }

  function whyBox(told) {
    const box = make("div", `why ${told.tone}`, prose(told.why));
    if (told.meaning && told.meaning !== told.why) box.append(make("p", "meaning", told.meaning));
    if (told.failure.length) box.append(pairs(told.failure));
    if (told.stderr) box.append(...sections([["code", "stderr, at its end", told.stderr]]));
    return box;
  }

  function isVisible(run, item, at) {
    if ("r" in item) return !query || hitsIn.has(item.r);
    return isShown(item) && (!query || textOf(places[run][at]).includes(query));
  }

  function refresh(view) {
    const items = data.runs[view.run].items;
    view.visible = [];
    items.forEach((item, at) => isVisible(view.run, item, at) && view.visible.push(at));
    view.from = 0;
    view.to = CHUNK;
    draw(view);
  }

  function draw(view) {
    view.lines.clear();
    view.list.replaceChildren(...more(view, "earlier"), ...rows(view, view.from, view.to), ...more(view, "later"));
    mark();
  }

  function rows(view, from, to) {
    return view.visible.slice(from, to).map((at) => {
      const item = data.runs[view.run].items[at];
      if ("r" in item) return make("li", "nested", runView(item.r).element);
      const line = itemLine(view.run, at);
      view.lines.set(at, line);
      return line.element;
    });
  }

  function more(view, which) {
    const left = which === "later" ? view.visible.length - view.to : view.from;
    if (left <= 0) return [];
    const text = `Show ${Math.min(CHUNK, left)} ${which} (${left} are not shown)`;
    const row = make("li", "more");
    row.append(button("line", () => grow(view, which, row), text));
    return [row];
  }

  function grow(view, which, row) {
    let added = [];
    if (which === "later") {
      added = rows(view, view.to, view.to + CHUNK);
      view.to += CHUNK;
      row.replaceWith(...added, ...more(view, which));
    } else {
      const from = Math.max(0, view.from - CHUNK);
      added = rows(view, from, view.from);
      view.from = from;
      row.replaceWith(...more(view, which), ...added);
    }
    const next = which === "later" ? added[0] : added[added.length - 1];
    next.querySelector("button").focus();
    mark();
  }

  // ---------------------------------------------------------------- going places

  function reveal(run, at) {
    const view = runView(run);
    view.open(true);
    const item = data.runs[run].items[at];
    if (!view.visible.includes(at)) {
      if (!("r" in item) && !isShown(item)) toggleGroup(item.g, true);
      if (!view.visible.includes(at)) setQuery("");
    }
    const place = view.visible.indexOf(at);
    if (place < view.from || place >= view.to) {
      view.from = Math.max(0, place - CHUNK / 4);
      view.to = view.from + CHUNK;
      draw(view);
    }
    return view;
  }

  function jump([run, at]) {
    const path = data.runs[run].crumb.map((one) => one[0]);
    path.slice(1).forEach((child, level) => {
      const above = path[level];
      reveal(
        above,
        data.runs[above].items.findIndex((item) => item.r === child),
      );
    });
    let target = runView(run);
    if (at >= 0) {
      target = reveal(run, at).lines.get(at);
    }
    target.open(true);
    target.toggle.scrollIntoView({ block: "center" });
    target.toggle.focus({ preventScroll: true });
  }

  function step(list, what, back) {
    if (!list.length) return say(`No ${what}`);
    const ahead = list.findIndex((entry) => placeOf(entry) > here);
    const behind = list.findLastIndex((entry) => placeOf(entry) < here);
    const wraps = (back ? behind : ahead) < 0;
    const at = wraps ? (back ? list.length - 1 : 0) : back ? behind : ahead;
    jump(list[at]);
    const told = `${what} ${at + 1} of ${list.length}`;
    say(wraps && here >= 0 ? `${told}, from the ${back ? "end" : "top"} again` : told);
    if (list === hits) $("hits").textContent = `${at + 1} of ${list.length}`;
    return undefined;
  }

  const nextHit = (back) => (query ? step(hits, "hit", back) : step(bad, "failure", back));

  function say(text) {
    $("says").textContent = text;
  }

  function move(by) {
    const lines = [...document.querySelectorAll("#tree .line")].filter((line) => line.offsetParent);
    const at = lines.indexOf(document.activeElement);
    const fallback = lines.findIndex((line) => line.dataset.place === String(here));
    const next = lines[Math.min(lines.length - 1, Math.max(0, (at < 0 ? fallback : at) + by))];
    if (next) {
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest" });
    }
  }

  // ---------------------------------------------------------------- search and filters

  function setQuery(text) {
    query = text.trim().toLowerCase();
    if ($("query").value.trim().toLowerCase() !== query) $("query").value = text;
    find();
  }

  function find() {
    hits = [];
    hitsIn = new Map();
    let hidden = 0;
    for (let place = 0; query && place < order.length; place += 1) {
      const [run, at] = order[place];
      if (!textOf(place).includes(query)) continue;
      if (at >= 0 && !isShown(data.runs[run].items[at])) {
        hidden += 1;
        continue;
      }
      hits.push(order[place]);
      for (const [above] of data.runs[run].crumb) hitsIn.set(above, (hitsIn.get(above) || 0) + 1);
    }
    const few = `${hits.length} ${hits.length === 1 ? "hit" : "hits"}`;
    $("hits").textContent = query ? few + (hidden ? `, ${hidden} not shown` : "") : "";
    $("next").disabled = $("previous").disabled = !hits.length;
    views.forEach((view) => {
      const count = hitsIn.get(view.run);
      view.found.textContent = query ? `${count || "no"} ${count === 1 ? "hit" : "hits"}` : "";
      view.element.classList.toggle("no-hits", Boolean(query) && !count);
    });
    [...views.values()].filter((view) => isOpen(view.toggle) || view.list.children.length).forEach(refresh);
  }

  let waiting = 0;
  function mark() {
    if (!CSS.highlights || waiting) return;
    waiting = requestAnimationFrame(() => {
      waiting = 0;
      CSS.highlights.delete("hit");
      if (query) CSS.highlights.set("hit", new Highlight(...ranges()));
    });
  }

  function ranges() {
    const found = [];
    const walker = document.createTreeWalker($("tree"), NodeFilter.SHOW_TEXT);
    while (found.length < MAX_MARKED && walker.nextNode()) {
      const text = walker.currentNode.data.toLowerCase();
      if (text.length !== walker.currentNode.data.length) continue; // letters that change their length
      for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
        const range = new Range();
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, at + query.length);
        found.push(range);
      }
    }
    return found;
  }

  function toggleGroup(group, on) {
    if (on) shown.add(group);
    else shown.delete(group);
    for (const chip of $("groups").children) chip.setAttribute("aria-pressed", String(shown.has(chip.dataset.group)));
    find();
  }

  function drawGroups() {
    const counts = {};
    for (const run of data.runs) for (const item of run.items) counts[item.g] = (counts[item.g] || 0) + 1;
    for (const [group, name] of Object.entries(GROUPS)) {
      if (!counts[group]) continue;
      const does = () => toggleGroup(group, !shown.has(group));
      const chip = button("chip", does, `${name} `, make("span", "count", String(counts[group])));
      chip.dataset.group = group;
      chip.setAttribute("aria-pressed", String(shown.has(group)));
      $("groups").append(chip);
    }
  }

  // ---------------------------------------------------------------- the summary

  const crumbOf = (run) => data.runs[run].crumb.map((one) => one[1]).join(" › ");

  function toRun(run) {
    const name = button("plain", () => jump([run, -1]), crumbOf(run));
    return make("span", "", name, make("span", "task", data.runs[run].task));
  }

  function slowly(list, parent, draw) {
    let done = 0;
    const next = button("chip", () => add(), "");
    const add = () => {
      parent.append(...list.slice(done, done + ROWS).map(draw));
      done = Math.min(list.length, done + ROWS);
      next.textContent = `Show more (${list.length - done} are not shown)`;
      next.hidden = done === list.length;
    };
    add();
    return next;
  }

  function titled(title, name, ...children) {
    const heading = make("h3", "", title);
    heading.id = `about-${name}`;
    const part = make("section", `panel ${name}`, heading, ...children);
    part.setAttribute("aria-labelledby", heading.id);
    return part;
  }

  function drawFailures() {
    const list = make("ul", "");
    const more = slowly(data.failures, list, (run) => {
      const told = data.runs[run];
      return make(
        "li",
        "",
        make("p", "who", toRun(run), badge(told.status, told.tone), told.facts[0] || ""),
        whyBox(told),
      );
    });
    return titled("Why it failed", "failures", list, more);
  }

  function drawAsked() {
    const head = make("tr", "");
    for (const name of ["Child", "Asked for", "Answer", "Who answered", "Why"]) {
      const cell = make("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = make("tbody", "");
    const more = slowly(data.asked, body, (entry) => {
      const item = data.runs[entry[0]].items[entry[1]];
      const told = Object.fromEntries(item.s[0][2]);
      const what = button("plain", () => jump(entry), item.x);
      const cells = [toRun(entry[0]), what, badge(item.b, item.c), told["who answered"] || "", told.why || ""];
      return make("tr", "", ...cells.map((cell) => make("td", "", cell)));
    });
    const table = make("table", "", make("thead", "", head), body);
    return titled("Who asked for what", "asked", make("div", "wide", table), more);
  }

  function lane(row, span) {
    const told = data.runs[row.r];
    const name = button("plain", () => jump([row.r, -1]), told.name);
    name.title = crumbOf(row.r);
    name.style.setProperty("padding-left", `${Math.min(told.crumb.length - 1, 8) * 0.9}em`);
    const put = (element, from, long) => {
      element.style.setProperty("left", `${(100 * Math.max(0, from)) / span}%`);
      element.style.setProperty("width", `${(100 * long) / span}%`);
      return element;
    };
    const bar = put(make("span", `stretch ${told.tone}`), row.at, row.len);
    const marks = row.m.map(([at, long, tone]) => put(make("span", `mark ${tone}`), row.at + at, long));
    const track = make("div", "track", bar, ...marks);
    track.setAttribute("aria-hidden", "true");
    const took = make("span", "unseen", `${told.status}, from ${row.at.toFixed(1)} s for ${row.len.toFixed(1)} s`);
    return make("li", "", make("span", "lane-name", name), track, took);
  }

  function drawLanes() {
    const axes = data.lanes.map((axis) => {
      const list = make("ol", "lanes");
      const more = slowly(axis.rows, list, (row) => lane(row, axis.span));
      const ends = [0, axis.span / 2, axis.span].map((at) => make("span", "", `${at.toFixed(at < 10 ? 1 : 0)} s`));
      const from = axis.from.replace("T", " ").replace("+00:00", " UTC");
      return [make("p", "from", from), list, more, make("div", "axis", ...ends)];
    });
    const legend =
      "A bar is a run, what is in it are tool calls; a tall mark is a permission, from question to answer.";
    return titled("Time line", "times", ...axes.slice(0, ROWS).flat(), make("p", "meaning", legend));
  }

  function drawAll() {
    $("title").textContent = data.title;
    $("summary-title").textContent = data.headline;
    if (data.failures.length) $("summary").append(drawFailures());
    if (data.asked.length) $("summary").append(drawAsked());
    $("summary").append(drawLanes());
    drawGroups();
    $("tree").append(...data.roots.map((run) => runView(run).element));
    const few = order.length <= OPEN_AT_ONCE;
    if (few || data.roots.length === 1) data.roots.forEach((run) => runView(run).open(true));
    if (few) data.runs.forEach((_, run) => runView(run).open(true));
    $("failure").hidden = !bad.length;
    $("failure").append(make("span", "count", ` ${bad.length}`));
    $("next").disabled = $("previous").disabled = true;
  }

  // ---------------------------------------------------------------- keys, theme, print

  const isDark = () => {
    const set = document.documentElement.dataset.theme;
    return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("acp-trace-theme", theme);
    } catch {
      // no storage for files here: it holds until the page is closed
    }
  }

  const KEYS = {
    "/": () => $("query").select(),
    n: () => nextHit(false),
    p: () => nextHit(true),
    f: () => step(bad, "failure", false),
    j: () => move(1),
    k: () => move(-1),
    t: () => setTheme(isDark() ? "light" : "dark"),
    "?": () => $("help").showModal(),
    Escape: endSearch,
  };

  function endSearch() {
    const place = here;
    $("query").value = "";
    setQuery("");
    if (place >= 0) jump(order[place]);
    else $("query").blur();
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target === $("query");
    if ($("help").open || event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
    const does = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
    if (does) {
      event.preventDefault();
      does();
    }
  });
  document.addEventListener("focusin", (event) => {
    const place = event.target.dataset && event.target.dataset.place;
    if (place !== undefined) here = Number(place);
  });
  let typed = 0;
  $("query").addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => setQuery($("query").value), 150);
  });
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typed);
    setQuery($("query").value);
    here = -1;
    if (query) nextHit(false);
  });
  $("next").addEventListener("click", () => nextHit(false));
  $("previous").addEventListener("click", () => nextHit(true));
  $("failure").addEventListener("click", KEYS.f);
  $("theme").addEventListener("click", KEYS.t);
  $("keys").addEventListener("click", KEYS["?"]);
  window.addEventListener("beforeprint", () => {
    if (order.length <= PRINTED) data.runs.forEach((_, run) => runView(run).open(true));
  });

  try {
    document.documentElement.dataset.theme = localStorage.getItem("acp-trace-theme") || "";
  } catch {
    // as above
  }
  drawAll();
})();
