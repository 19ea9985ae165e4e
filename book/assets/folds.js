/* What is long opens by and by: rows of tables, and on a phone sections of a page that is too long.
   Links, the browser's own search and paper find everything. Without a script all is open. */
"use strict";

(() => {
  const PHONE = matchMedia("(max-width: 720px)");
  const ROWS = PHONE.matches ? 20 : 50; // of a table, until a reader asks for more
  const LONG = 14000; // CSS pixels of a page on a phone, from which on its sections fold
  const WORDS = {
    en: { more: (next, all) => `${next} more of ${all}`, open: "Open this section" },
    zh: { more: (next, all) => `再显示 ${next} 行（共 ${all} 行）`, open: "展开本节" },
  };
  const words = WORDS[document.documentElement.lang.slice(0, 2)] ?? WORDS.en;
  const opened = new Map(); // table -> shows so many rows more
  const button = (text, click) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "unfold";
    made.textContent = text;
    made.addEventListener("click", click);
    return made;
  };

  const limit = (table) => {
    const body = table.tBodies[0];
    let most = ROWS;
    const more = button("", () => { most += ROWS; show(); });
    const show = (all = false) => {
      if (all) most = Infinity;
      const rows = [...body.rows];
      rows.forEach((row, place) => row.classList.toggle("beyond", place >= most));
      more.hidden = rows.length <= most;
      more.textContent = words.more(Math.min(ROWS, rows.length - most), rows.length);
    };
    (table.closest(".pst-scrollable-table-container, .claims") ?? table).after(more);
    new MutationObserver(() => show()).observe(body, { childList: true }); // sorted or filtered
    show();
    opened.set(table, show);
  };
  for (const table of document.querySelectorAll(".bd-article table")) {
    if (table.tBodies[0]?.rows.length > ROWS * 1.2) limit(table);
  }

  const unfold = (folded) => {
    folded.removeAttribute("hidden");
    folded.previousElementSibling.remove();
  };
  const fold = (section) => {
    const head = section.querySelector(":scope > h2");
    const folded = document.createElement("div");
    folded.className = "folded";
    folded.setAttribute("hidden", "until-found");
    while (head.nextSibling) folded.append(head.nextSibling);
    folded.addEventListener("beforematch", () => unfold(folded));
    head.after(button(words.open, () => unfold(folded)), folded);
  };
  if (PHONE.matches) {
    let height = document.documentElement.scrollHeight;
    const sections = height > LONG ? [...document.querySelectorAll(".bd-article section:has(> h2)")]
      .map((section) => [section.offsetHeight, section]) : [];
    for (const [size, section] of sections.sort(([one], [other]) => other - one)) {
      if (height <= LONG) break;
      fold(section);
      height -= size - section.offsetHeight;
    }
  }

  const all = () => {
    for (const show of opened.values()) show(true);
    document.querySelectorAll(".bd-article .folded[hidden]").forEach(unfold);
  };
  const printed = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll(".bd-article details:not([open])")) {
      details.open = true;
      printed.push(details);
    }
  });
  addEventListener("afterprint", () => {
    for (const details of printed.splice(0)) details.open = false;
  });
  addEventListener("keydown", (event) => {
    if (event.key === "F3" || ((event.ctrlKey || event.metaKey) && event.key === "f")) all();
  });

  const reveal = () => {
    const target = bookTarget(location.hash);
    if (!target) return;
    const folded = target.closest(".folded[hidden]");
    const row = target.closest("tr.beyond");
    const details = target.matches("tr") ? target.querySelector("details") : target.closest("details");
    if (folded) unfold(folded);
    if (row) opened.get(row.closest("table"))(true);
    if (details) details.open = true;
    if (folded || row || details) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
