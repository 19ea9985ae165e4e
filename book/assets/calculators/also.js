/* What a state of the calculators sets besides its fields: in words, each with a button that takes it back. */
"use strict";
(() => {
  const fit = globalThis.willItFit;
  const { data: { extras }, make, say } = fit;

  /* Of what is set what a test of names keeps. */
  fit.kept = (set, keep) => Object.fromEntries(Object.entries(set).filter(([name]) => keep(name)));

  /* What is set, in words: a time, a share, yes or no, one of a few ways. */
  const told = (name, setting, words) => {
    const { unit, of, step, high } = extras[name];
    if (of) return of[setting][words.lang];
    if (step && high === 1) return words[setting[0] ? "yes" : "no"];
    const [value, least, most] = setting, written = fit.human(value, unit || "1", words.lang);
    return least < most ? `${written} (${fit.span(least, most, unit || "1", words.lang, value)})` : written;
  };

  /* The list of a page's one state. */
  fit.also = (store, words) => {
    const list = make("ul"), all = make("button", { type: "button" }, words.takeAllBack);
    const node = make("div", { class: "also" }, make("p", {}, words.also), list, all);
    const keep = (test) => {
      store().change({ set: fit.kept(store().state.set, test) });
      (list.querySelector("button") ?? node.parentElement.querySelector("select")).focus();
    };
    all.addEventListener("click", () => keep(() => false));
    const fill = ({ set }) => {
      const names = Object.keys(set);
      node.hidden = !names.length;
      all.hidden = names.length < 2;
      list.replaceChildren(...names.map((name) => {
        const called = extras[name][words.lang], label = say(words, "takeBack", { name: called });
        const back = make("button", { type: "button", "aria-label": label, title: label }, "×");
        back.addEventListener("click", () => keep((other) => other !== name));
        return make("li", {}, make("span", {}, called, words.colon, make("b", {}, told(name, set[name], words))), back);
      }));
    };
    return { node, fill };
  };
})();
