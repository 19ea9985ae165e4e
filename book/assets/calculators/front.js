/* The calculator of the front page: card, count, model, precision, load; of all cuts the fastest that
   fits, what a user gets of it, how such intervals did, and how to go on. */
"use strict";
(() => {
  const fit = globalThis.willItFit;
  const PAUSE = 250;  // before cuts are tried anew while a slider moves [ms]
  const ROW = ["tpot", "ttft", "rate", "million"];

  /* Every cut of so many cards that divides the model; of those that fit the fastest, else that which is
     the least short. */
  const best = ({ data, engine, words }, state, count) => {
    let found = null;
    for (const tp of data.sizes) {
      for (const pp of data.sizes) {
        const dp = count / (tp * pp);
        if (!data.sizes.includes(dp)) continue;
        for (const ep of data.sizes) {
          const cut = { ...state, tp, pp, dp, ep };
          if (fit.problem(data, words, cut)) continue;
          const get = engine.glance(cut), spare = get("headroom_per_device"), pace = get("tpot");
          const better = !found || (spare >= 0 ? found.spare < 0 || pace < found.pace : found.spare < spare && found.spare < 0);
          if (better) found = { spare, pace, cut: { tp, pp, dp, ep } };
        }
      }
    }
    return found;
  };

  const counts = (data, card) => [1, 2, 3, 4, 6, 8, 12, 16].map((servers) => servers * data.cards[card].perNode)
    .filter((count) => count <= data.sizes.at(-1));

  const command = (state, count) => [`python -m calc search r1-matrix --set model=${state.model}`,
    `--set devices=${state.card} --set cards.fewest=${count} --set cards.most=${count}`,
    `--set precisions=${state.precision} --set demand.users=${state.users}`,
    `--set demand.input_tokens=${state.input} --set demand.output_tokens=${state.output}`].join(" \\\n    ");

  fit.front = (kit) => (root) => {
    const { store, choice, number, named, ranged, words, language, data, make, say, answer, range, MILLION } = kit;
    let wanted = null, tried = "", timer = 0;
    const counted = (state) => wanted ?? state.tp * state.pp * state.dp;
    const seek = () => {
      const { state, engine } = store(), allowed = counts(data, state.card);
      const count = allowed.includes(counted(state)) ? counted(state) : allowed[0];
      const key = JSON.stringify([count, state.card, state.model, state.precision, state.engine, state.users, state.input, state.output]);
      if (key === tried) return;
      tried = key;
      wanted = count;
      const found = best({ data, engine, words }, state, count);
      none.textContent = found ? "" : say(words, "noCut", { count, model: data.models[state.model].name[language] });
      if (found) store().change(found.cut);
    };
    const size = make("select", { name: "count" });
    size.addEventListener("change", () => {
      wanted = Number(size.value);
      seek();
    });
    const usual = Object.keys(data.cards).filter((name) => data.cards[name].device === name);
    const controls = [choice("card", () => named(data.cards, usual)), null, choice("model", () => named(data.models)),
      choice("precision", (state) => named(data.precisions, fit.precisions(data, state)))];
    const sliders = ["users", "input", "output"].map((key) => number(key, ranged[key]));
    const said = answer(), none = make("p", { class: "refusal", role: "alert" });
    const body = make("tbody"), plan = make("p", { class: "plan" }), code = make("code");
    const go = make("a", { href: "chapters/calculators.html" }, words.takeApart);
    const proof = make("a", { href: "chapters/memory.html" }, words.proof);
    const held = make("a", { href: "chapters/validation.html" });
    root.append(
      make("div", { class: "fields" }, ...controls.map((control) => control?.node
        ?? make("label", { class: "field" }, make("span", {}, words.count), size)), ...sliders.map(({ node }) => node)),
      none, said,
      make("table", {}, make("thead", {}, make("tr", {}, ...["", words.estimate, words.interval].map((text) => make("th", { scope: "col" }, text)))), body),
      make("p", { class: "caption" }, held), plan,
      make("details", {}, make("summary", {}, words.command), make("pre", {}, code)),
      make("p", { class: "onward" }, go, " · ", proof));
    return (result, state) => {
      for (const control of [...controls, ...sliders]) control?.fill(state);
      const options = counts(data, state.card), count = state.tp * state.pp * state.dp;
      size.replaceChildren(...options.map((value) => make("option", { value }, String(value))));
      size.value = String(count);
      clearTimeout(timer);
      timer = setTimeout(seek, PAUSE);
      if (!result) return;
      const { ranges, get, cost } = result, spare = { value: fit.spareOf(ranges.headroom_per_device) };
      const gb = (value) => fit.bytes(Math.abs(value));
      said.textContent = say(words, spare.value >= 0 ? "fitsShort" : "fitsNotShort", { spare: gb(spare.value), usable: gb(get("usable_memory")) });
      const rows = { tpot: ["s", ranges.tpot], ttft: ["s", ranges.ttft], rate: ["1", ranges.output_throughput],
        million: ["1", cost?.cost_output_token, MILLION] };
      body.replaceChildren(...ROW.filter((key) => rows[key][1]).map((key) => {
        const [unit, found, factor = 1] = rows[key];
        return make("tr", {}, make("th", { scope: "row" }, words[`${key}Row`]), make("td", {}, make("b", {}, fit.human(found.value * factor, unit, language))), make("td", {}, range(unit, found, factor)));
      }));
      const known = data.cards[state.card].held[state.engine];
      held.textContent = say(words, "held", { inside: known[0], rows: known[1], kind: known[2][language] });
      const cut = [["TP", state.tp], ["PP", state.pp], ["DP", state.dp], ["EP", state.ep]].filter(([, degree]) => degree > 1);
      plan.textContent = say(words, "plan", { cut: cut.map(([name, degree]) => `${name}${degree}`).join("×") || "TP1", count });
      code.textContent = command(state, count);
      go.href = `chapters/calculators.html${fit.toLink(data, state)}`;
    };
  };
})();
