/* Switching the language keeps the section: labels are the same in both languages. */
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-keep-section]");
  if (link) link.hash = window.location.hash;
});

/* Tables of the catalogue are sorted by a click on a heading and filtered by a field above them.
   DataTables 3.1.5 from npm, fetched only by pages that have such a table. */
const WORDS = {
  en: { search: "Filter", zeroRecords: "Nothing matches." },
  zh: { search: "筛选", zeroRecords: "没有匹配的行。" },
};
const library = new URL("vendor/datatables/dataTables.min.js", document.currentScript.src);

document.addEventListener("DOMContentLoaded", () => {
  const tables = document.querySelectorAll(".sortable table");
  if (!tables.length) return;
  const script = document.createElement("script");
  script.src = library;
  script.onload = () => {
    const language = WORDS[document.documentElement.lang.slice(0, 2)] ?? WORDS.en;
    for (const table of tables) {
      new DataTable(table, {
        paging: false, info: false, order: [], autoWidth: false, language,
        layout: { topStart: "search", topEnd: null, bottomStart: null, bottomEnd: null },
      });
    }
  };
  document.head.append(script);
});
