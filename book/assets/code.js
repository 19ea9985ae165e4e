/* Whether the code of pages is shown: off, until a reader switches it on. Before the page is drawn. */
document.documentElement.dataset.code = localStorage.getItem("code") === "on" ? "on" : "off";
