/* The search field and its results. Index and engine are loaded when a field is first used, as
   scripts, so that it works from the disk too. */
"use strict";

(() => {
  const here = document.currentScript.src;
  const SCRIPTS = ["../vendor/minisearch/minisearch.js", "asking.js", "engine.js",
    "../search-index.js"];
  const root = new URL("../../", here);
  const [SHOWN, SHOWN_ON_PAGE] = [8, 60];
  const [AROUND, AROUND_HAN] = [190, 90]; // characters of an excerpt
  const PAUSE = 100; // ms without a key before a search
  const WORDS = {
    en: {
      loading: "Loading the index …", failed: "The index could not be loaded.",
      near: "Nothing found. The nearest names, and two pages to start from:",
      some: "No section has all of it. These have some:",
      count: (n) => (n === 1 ? "1 result" : `${n} results`), all: (n) => `All ${n} results`,
      kinds: { term: "term", letter: "symbol", deployment: "deployment", device: "device",
        model: "model", document: "document", claim: "claim" },
    },
    zh: {
      loading: "正在载入索引……", failed: "索引未能载入。",
      near: "没有找到。名称相近的条目，以及两个可以开始的页面：",
      some: "没有哪一节包含全部内容，以下包含其中一部分：",
      count: (n) => `${n} 条结果`, all: (n) => `全部 ${n} 条结果`,
      kinds: { term: "术语", letter: "符号", deployment: "部署", device: "设备", model: "模型",
        document: "文档", claim: "论断" },
    },
  };
  const language = WORDS[document.documentElement.lang.slice(0, 2)] ?? WORDS.en;

  const load = (source) => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = new URL(source, here);
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });
  let engine;
  const ready = () => (engine ??= Promise.all(SCRIPTS.map(load))
    .then(() => bookEngine.make(window.bookIndex)));

  const element = (tag, name, ...content) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...content);
    return made;
  };

  /* A text as nodes, what was found in it marked; all of it or the part that has most. */
  const marked = (text, terms, around = Infinity) => {
    const marks = bookEngine.marks(text, terms);
    let [from, to] = [0, text.length];
    if (text.length > around) {
      const inside = (begin) => marks.filter(([at, end]) => at >= begin && end <= begin + around);
      const best = marks.reduce((most, [at]) => {
        const found = new Set(inside(at).map(([a, b]) => text.slice(a, b).toLowerCase())).size;
        return found > most.found ? { at, found } : most;
      }, { at: 0, found: 0 });
      from = Math.max(0, best.at - around / 4);
      const start = text.slice(from, best.at).search(/[.。；;\n]\s?(?!.*[.。；;\n])/s);
      if (start >= 0) from += start + 1;
      to = Math.min(text.length, from + around);
      while (/[\p{sc=Latin}\p{N}]{2}/u.test(text.slice(to - 1, to + 1))) to += 1; // no word is cut
    }
    const nodes = [from > 0 ? "… " : ""];
    let at = from;
    for (const [begin, end] of marks) {
      if (begin < at || end > to) continue;
      nodes.push(text.slice(at, begin), element("mark", "", text.slice(begin, end)));
      at = end;
    }
    return [...nodes, text.slice(at, to), to < text.length ? " …" : ""];
  };

  const result = (hit) => {
    const han = /\p{sc=Han}/u.test(hit.text);
    const found = (text) => bookEngine.marks(text, hit.terms).length;
    const text = found(hit.text) || !found(hit.rows) ? hit.text || hit.rows : hit.rows;
    const where = [language.kinds[hit.kind], hit.heading && hit.title].filter(Boolean);
    if (["term", "letter"].includes(hit.kind)) where[1] = hit.heading;
    const link = element("a", "", element("span", "hit-title",
      ...marked(["term", "letter"].includes(hit.kind) ? hit.title : hit.heading || hit.title,
        hit.terms)));
    if (where.length) link.append(element("span", "hit-where", where.join(" · ")));
    if (text) {
      link.append(element("span", "hit-text",
        ...marked(text.replaceAll("\n", " "), hit.terms, han ? AROUND_HAN : AROUND)));
    }
    link.href = new URL(hit.address, root);
    return element("li", "", link);
  };

  const field = (form) => {
    const input = form.querySelector("input[name=q]");
    const dialog = form.closest("dialog");
    const status = element("p", "search-status");
    status.setAttribute("role", "status");
    const list = element("ol", "search-hits");
    const box = element("div", "search-results", status, list);
    form.after(box);

    const show = (query, { complete, hits, near }) => {
      const most = dialog ? SHOWN : SHOWN_ON_PAGE;
      status.textContent = !hits.length ? language.near
        : complete ? language.count(hits.length) : language.some;
      list.replaceChildren(...(hits.length ? hits.slice(0, most) : near).map(result));
      if (dialog && hits.length > most) {
        const more = element("a", "search-more", language.all(hits.length));
        more.href = new URL(`search.html?q=${encodeURIComponent(query)}`, root);
        list.append(element("li", "", more));
      }
    };
    let asked = 0;
    const search = async () => {
      const query = input.value.trim();
      const turn = (asked += 1);
      box.dataset.query = "";
      if (!query) {
        status.textContent = "";
        list.replaceChildren();
        return;
      }
      try {
        if (!window.bookIndex) status.textContent = language.loading;
        const { find } = await ready();
        if (turn !== asked) return;
        show(query, find(query));
        box.dataset.query = query; // what the results belong to
      } catch {
        status.textContent = language.failed;
      }
    };
    let pause;
    input.addEventListener("focus", () => { ready().catch(() => {}); }, { once: true });
    input.addEventListener("input", (event) => {
      clearTimeout(pause);
      if (event.isComposing) return; // letters that are about to become Chinese
      pause = setTimeout(search, PAUSE);
    });
    input.addEventListener("compositionend", search);
    // Down and up go through the results, from the field and back to it.
    form.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.isComposing) return;
      const stops = [input, ...list.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (!stops.includes(document.activeElement) || !next) return;
      event.preventDefault();
      next.focus();
    });
    if (dialog) return;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      search();
    });
    // The page of the search: the query is in its address, and goes along into the other language.
    input.value = new URLSearchParams(location.search).get("q") ?? "";
    input.focus();
    search();
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-keep-section]");
      if (link) link.search = input.value && `?q=${encodeURIComponent(input.value)}`;
    });
  };

  document.querySelectorAll("form.bd-search").forEach(field);
})();
