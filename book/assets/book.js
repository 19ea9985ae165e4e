/* Switching the language keeps the section: labels are the same in both languages. */
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-keep-section]");
  if (link) link.hash = window.location.hash;
});

/* Buttons of the theme, whose handlers are not in the page, where a strict policy forbids them. */
document.addEventListener("click", (event) => {
  const { action } = event.target.closest("[data-action]")?.dataset ?? {};
  if (action === "print") window.print();
  if (action === "toggleFullScreen") window.toggleFullScreen();
  if (action === "code") showCode(document.documentElement.dataset.code !== "on");
});

/* One switch for the code of all pages: its bars are out of sight until it is on. */
const showCode = (on) => {
  document.documentElement.dataset.code = on ? "on" : "off";
  localStorage.setItem("code", on ? "on" : "off");
  for (const button of document.querySelectorAll(".code-switch")) button.ariaPressed = String(on);
};
document.addEventListener("DOMContentLoaded", () => {
  const some = document.querySelector(".cell.tag_hide-input");
  for (const button of document.querySelectorAll(".code-switch")) {
    button.hidden = !some;
    button.ariaPressed = String(document.documentElement.dataset.code === "on");
  }
});

/* Tables of the catalogue are sorted by a click on a heading and filtered by a field above them.
   DataTables 3.1.5 from npm, fetched only by pages that have such a table. */
const WORDS = {
  en: { search: "Filter", zeroRecords: "Nothing matches.", all: "every verdict" },
  zh: {
    search: "筛选", zeroRecords: "没有匹配的行。", all: "全部结论",
    aria: { orderable: "：点击排序", orderableReverse: "：点击反向排序", orderableRemove: "：点击取消排序" },
  },
};
/* A quantity sorts by its size: "1.26 TB/s (1.2–1.3)" after "900 GB/s". */
const PREFIX = { n: 1e-9, u: 1e-6, µ: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
const QUANTITY = /^(-?[\d,]+(?:\.\d+)?(?:e\d+)?) ?([numµkMGTP]i?(?=B|s|FLOP|OPS|W|Hz))?/;
const orderBySize = (table) => {
  const rows = [...table.tBodies[0].rows];
  for (let column = 0; column < rows[0].cells.length; column += 1) {
    const cells = rows.map((row) => row.cells[column]);
    const texts = cells.map((cell) => cell.textContent.trim());
    const found = texts.map((text) => QUANTITY.exec(text));
    if (!texts.every((text, row) => found[row] || ["", "–"].includes(text))) continue;
    found.forEach((parts, row) => {
      cells[row].dataset.order = parts
        ? parts[1].replaceAll(",", "") * (PREFIX[parts[2]] ?? 1) : "";
    });
  }
};
// Rows of one verdict: what stands before the colon in the column that has one.
const chooseVerdict = (table, sorted, all) => {
  const place = [...table.tHead.rows[0].cells].findIndex((cell) => cell.dataset.verdict !== undefined);
  if (place < 0) return;
  const column = sorted.column(place);
  const names = column.nodes().toArray().map((cell) => cell.textContent.split(/[:：]/)[0].trim());
  const choice = document.createElement("select");
  choice.ariaLabel = table.tHead.rows[0].cells[place].textContent;
  choice.append(new Option(all, ""), ...[...new Set(names)].map((name) => new Option(name)));
  choice.addEventListener("change", () => {
    const only = choice.value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    column.search(only && `^${only}(?![^:：])`, { regex: true, smart: false }).draw();
  });
  table.closest(".claims").querySelector(".dt-search").append(choice);
};
/* Calculators and sliders beside formulas: their scripts are fetched, in this order, only by pages that
   have one. The formulas and their table are made when the book is built; sliders need no table. */
const calculators = (name) => new URL(`calculators/${name}`, document.currentScript.src);
const SCRIPTS = ["numbers.js", "formulas.js", "table.js", "engine.js", "state.js", "picture.js", "also.js", "solving.js", "summary.js", "elements.js"].map(calculators);
const FRONT = [...SCRIPTS.slice(0, -1), calculators("front.js"), SCRIPTS.at(-1)];
const SLIDERS = ["numbers.js", "formulas.js", "sliders.js"].map(calculators);
const fetchScripts = (addresses) => addresses.forEach((src) => {
  const script = document.createElement("script");
  script.async = false;
  script.src = src;
  document.head.append(script);
});
document.addEventListener("DOMContentLoaded", () => {
  if (document.querySelector('will-it-fit[view="front"]')) fetchScripts(FRONT);
  else if (document.querySelector("will-it-fit")) fetchScripts(SCRIPTS);
  else if (document.querySelector("formula-sliders")) fetchScripts(SLIDERS);
});

const library = new URL("vendor/datatables/dataTables.min.js", document.currentScript.src);

document.addEventListener("DOMContentLoaded", () => {
  const tables = document.querySelectorAll(".sortable table");
  if (!tables.length) return;
  const script = document.createElement("script");
  script.src = library;
  script.onload = () => {
    const language = WORDS[document.documentElement.lang.slice(0, 2)] ?? WORDS.en;
    for (const table of tables) {
      orderBySize(table);
      // DataTables marks the click as one on a target of its own, which the buttons that copy code
      // would take for theirs.
      table.closest(".sortable").addEventListener("click", (event) => {
        if (event.target.closest("thead")) event.stopPropagation();
      });
      const sorted = new DataTable(table, {
        paging: false, info: false, order: [], autoWidth: false, language,
        layout: { topStart: "search", topEnd: null, bottomStart: null, bottomEnd: null },
      });
      if (table.closest(".claims")) chooseVerdict(table, sorted, language.all);
    }
  };
  document.head.append(script);
});
