/* What is settled before the page is drawn, so that nothing moves afterwards. */

/* Whether code is shown: not until a reader switches it on. */
document.documentElement.dataset.code = localStorage.getItem("code") === "on" ? "on" : "off";

/* Which theme the system asks for, where the reader chose none: the theme's own script, which comes
   late, would leave the page without colours and borders until then. */
if (!["light", "dark"].includes(document.documentElement.dataset.theme)) {
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches
    ? "dark" : "light";
}

/* The element that the hash of an address names; null where none is named or it cannot be decoded. */
const bookTarget = (hash) => {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {
    return null;
  }
};
