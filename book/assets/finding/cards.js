/* Cards: what a term, a letter, a formula, a claim or a source is, where it is pointed at or focused.
   What they say is loaded with the first of them. Escape closes a card, and it stays while the
   pointer is on it. */
"use strict";

(() => {
  const here = document.currentScript.src;
  const MATHML = "http://www.w3.org/1998/Math/MathML";
  const [DELAY, LINGER, GAP] = [250, 200, 8]; // ms, ms, CSS pixels
  const chinese = document.documentElement.lang.startsWith("zh");

  const loaded = {};
  const load = (file, name) => (loaded[file] ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = new URL(`../${file}`, here);
    script.onload = () => done(window[name]);
    script.onerror = failed;
    document.head.append(script);
  }));
  const data = () => load("cards-data.js", "bookCards");

  const element = (tag, name, ...content) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...content.filter(Boolean));
    return made;
  };

  /* Letters in TeX: a base with what stands below and above it, in one spelling. */
  const GROUP = String.raw`(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[A-Za-z0-9+*])`;
  const SCRIPTS = new RegExp(String.raw`\s*([_^])\s*(${GROUP})`, "y");
  const BASE = new RegExp(
    String.raw`\\(?:bar|hat)\s*${GROUP}|\\mathrm\s*\{[^{}]*\}|\\[A-Za-z]+|[A-Za-z]`, "g");
  const WORDS = new RegExp(String.raw`\\(?:text|operatorname|begin|end)\s*${GROUP}`, "g");
  const spelt = (tex) => tex.replace(/\\(?:mathrm|text|,)|[{}\s]/g, "");
  const pieces = function* (tex) {
    for (const base of tex.matchAll(BASE)) {
      const scripts = { _: "", "^": "" };
      let index = base.index + base[0].length; // up to where its index, not its power, reaches
      SCRIPTS.lastIndex = index;
      for (let found; (found = SCRIPTS.exec(tex));) {
        scripts[found[1]] = spelt(found[2]);
        if (found[1] === "_") index = SCRIPTS.lastIndex;
      }
      yield { base: spelt(base[0]), below: scripts._, above: scripts["^"], at: base.index, index };
    }
  };
  const spelling = ({ base, below, above }) => [base, below, above].join("|");
  let letters;
  const lettersOf = (tex, known) => {
    letters ??= new Map(known.map((letter) => [spelling(pieces(letter[0]).next().value), letter]));
    const shown = tex.replace(WORDS, " ");
    const found = new Set();
    let after = 0;
    for (const piece of pieces(shown)) {
      const letter = piece.at >= after
        && (letters.get(spelling(piece)) ?? letters.get(spelling({ ...piece, above: "" })));
      if (!letter) continue;
      found.add(letter);
      after = piece.index; // what stands in its index is part of it
    }
    return [...found];
  };
  const texOf = (math) => math.querySelector("annotation")?.textContent ?? "";
  const drawn = (letter) => {
    const [base, ...scripts] = letter.split(/(?=[_^])/);
    return element("span", "card-letter", element("i", "", base),
      ...scripts.map((text) => element(text[0] === "_" ? "sub" : "sup", "", text.slice(1))));
  };

  const built = ([tag, attributes, ...parts]) => {
    const made = document.createElementNS(MATHML, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...parts.map((part) => (typeof part === "string" ? part : built(part))));
    return made;
  };
  const titled = (title, more, ...content) => [
    element("p", "card-title", element("strong", "", title), more && ` ${more}`),
    ...content.map((text) => text && element("p", "", text))];

  /* What has a card, and what stands on it; nothing where there is nothing to say. */
  const same = (link) => link.pathname === location.pathname && bookTarget(link.hash);
  const KINDS = [
    ["a.term", async (link) => {
      const [name, others, meaning] = (await data()).terms[link.hash.slice(1)] ?? [];
      return name && titled(name, others && `(${others})`, meaning);
    }],
    ["a[href*='#equation-']:not(.headerlink)", async (link) => {
      const found = (await load("formulas-data.js", "bookFormulas"))[link.hash.slice(1)];
      return found && [element("p", "card-title", `(${found[0]}) ${found[1]}`), built(found[2])];
    }],
    ["article a[href^='#S']", async (link) => {
      const row = same(link)?.closest("tr");
      return row?.cells.length > 1
        && titled(row.cells[0].textContent.trim(), "", row.cells[1].textContent.trim());
    }],
    ["a.external", async (link) => {
      const [title, date, note] = (await data()).sources[link.getAttribute("href")] ?? [];
      const more = note || link.textContent.trim() !== title; // than the link says itself
      return title && more && titled(title, date && `(${date})`, note, link.hostname);
    }],
    ["article .math", async (math) => {
      const found = lettersOf(texOf(math), (await data()).letters);
      const rows = found.flatMap(([, letter, called, unit]) => [
        element("dt", "", drawn(letter)),
        element("dd", "", called, unit !== "1" && element("span", "card-unit", ` ${unit}`))]);
      return rows.length && [element("dl", "card-letters", ...rows)];
    }],
  ];
  const ANY = KINDS.map(([selector]) => selector).join(", ");

  const card = element("div", "card-of-things");
  card.id = "card";
  card.setAttribute("role", "tooltip");
  if ("popover" in card) card.popover = "manual"; // above dialogs and what scrolls
  document.body.append(card);
  let [owner, timer] = [null, 0];

  const hide = () => {
    clearTimeout(timer);
    owner?.removeAttribute("aria-describedby");
    owner = null;
    if (card.matches(":popover-open")) card.hidePopover();
    card.classList.remove("open");
  };
  const place = (target) => {
    const box = target.getClientRects()[0] ?? target.getBoundingClientRect();
    const own = card.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const below = box.bottom + GAP + own.height <= innerHeight || box.top < own.height + GAP;
    card.style.left = `${Math.max(GAP, Math.min(box.left, width - own.width - GAP))}px`;
    card.style.top = `${below ? box.bottom + GAP : box.top - own.height - GAP}px`;
  };
  const show = async (target) => {
    if (target === owner) return;
    const [, content] = KINDS.find(([selector]) => target.matches(selector));
    let shown;
    try {
      shown = await content(target);
    } catch {
      return; // without its data there is no card, and the link leads on
    }
    hide();
    if (!shown) return;
    owner = target;
    owner.setAttribute("aria-describedby", card.id);
    card.replaceChildren(...shown.filter(Boolean));
    card.classList.add("open");
    card.showPopover?.();
    place(target);
  };
  const soon = (wait, what) => {
    clearTimeout(timer);
    timer = setTimeout(what, wait);
  };

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const target = event.target.closest?.(ANY);
    if (target) soon(DELAY, () => show(target));
    else if (card.contains(event.target)) clearTimeout(timer);
    else soon(LINGER, hide);
  });
  document.addEventListener("focusin", (event) => {
    const target = event.target.closest?.(ANY);
    if (target?.matches(":focus-visible")) show(target);
    else if (owner && !card.contains(event.target)) hide();
  });
  // A finger on a formula; on a link it follows the link.
  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("article .math");
    if (target && target !== owner) show(target);
    else if (!card.contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && owner) hide();
  });
  addEventListener("scroll", hide, { passive: true });

  // Formulas on lines of their own scroll where they are wide, so a keyboard reaches them.
  for (const math of document.querySelectorAll("article div.math[id]")) {
    math.tabIndex = 0;
    math.setAttribute("role", "group");
    math.ariaLabel = chinese ? "公式" : "formula";
  }
  const boxes = [...document.querySelectorAll("article div.math[id] > .katex-display")];
  const reach = () => boxes.forEach((box) => {  // what scrolls is to be reached itself
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  reach(); // which lays the page out, and so has its fonts loaded
  document.fonts.ready.then(reach);
  addEventListener("resize", reach);
})();
