/* Switching the language keeps the section: labels are the same in both languages. */
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-keep-section]");
  if (link) link.hash = window.location.hash;
});
