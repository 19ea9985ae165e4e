/* The heads of tables stay in sight, and on a phone the rows of a table that is too wide become
   cards, in which each cell says the heading of its column. */
"use strict";

(() => {
  const PHONE = matchMedia("(max-width: 720px)");
  const BOXES = ".pst-scrollable-table-container, .dt-layout-table"; // what scrolls sideways
  const COLUMNS = 4; // of a table that is folded away, and so cannot be measured: wide from here on
  const tables = [...document.querySelectorAll(".bd-article table")].filter((table) => table.tHead);

  const name = (cell, head) => {
    if (!cell.textContent.trim()) cell.classList.add("empty");
    if (head.querySelector(".math")) {
      const label = document.createElement("span");
      label.className = "cell-label";
      label.append(...head.cloneNode(true).childNodes);
      cell.prepend(label);
    } else {
      cell.dataset.label = head.innerText.replace(/\s+/g, " ").trim(); // no text of the cell, by which rows are filtered
    }
  };
  const toCards = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const wide = table.offsetWidth
      ? table.offsetWidth > (table.closest(BOXES) ?? table.parentElement).clientWidth + 1
      : heads.length >= COLUMNS;
    const plain = heads.every((head) => head.colSpan === 1) && !table.closest(".claims, .turned");
    if (!wide || !plain || table.tHead.rows.length > 1) return;
    for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) {
      if (row.cells.length !== heads.length) continue;
      [...row.cells].slice(1).forEach((cell, place) => name(cell, heads[place + 1]));
    }
    table.classList.add("as-cards");
  };
  const onPhone = () => {
    if (!PHONE.matches) return;
    PHONE.removeEventListener("change", onPhone);
    tables.forEach(toCards);
  };
  PHONE.addEventListener("change", onPhone);
  onPhone();

  // A head sticks to the window unless a box around the table scrolls; a tall one then scrolls in it.
  const fit = (table) => {
    for (let box = table.closest(BOXES); box; box = box.parentElement.closest(BOXES)) {
      const fits = box.scrollWidth <= box.clientWidth + 1;
      box.classList.toggle("fits", fits);
      box.classList.toggle("tall", !fits && table.offsetHeight > innerHeight);
    }
  };
  const observer = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      if (target.tHead) fit(target);
      else tables.forEach(fit);
    }
  });
  for (const target of [...tables, document.querySelector(".bd-article")]) {
    if (target) observer.observe(target);
  }
})();
