/* What a state comes to, before anything is taken apart: a verdict, four numbers of the steady state with those
   of a burst beside, what would fit, the fastest layout, how many users and how many cards. */
"use strict";
(() => {
  const fit = globalThis.willItFit;
  const PAUSE = 350;  // before layouts are tried anew while a slider moves [ms]
  const ASKED = ["card", "model", "precision", "engine", "tp", "pp", "dp", "ep", "dcp", "users", "input", "output", "vary",
    "drafts", "chunk", "block", "share", "pace", "set"];

  fit.summary = (kit, chapters = "") => {
    const { store, words, language, data, make, say, range, number, answer, MILLION } = kit;
    const said = answer(), numbers = make("div", { class: "numbers" }), paid = make("p", { class: "caption" }), measured = make("p", { class: "caption" });
    const unstarted = make("p", { class: "refusal" });
    const fits = make("ul", { class: "changes" }), wanted = number("pace", { low: 5, high: 500, log: true });
    const asked = make("div", { class: "asked", "aria-live": "polite" });
    const node = make("div", { class: "summary" }, said, unstarted, numbers, paid, measured, fits,
      make("div", { class: "wanted" }, wanted.node, asked));
    let key = "", timer = 0, stop = () => {};

    const take = (text, change) => {
      const button = make("button", { type: "button" }, text);
      button.addEventListener("click", () => store().change(change));
      return button;
    };
    const drafted = ({ cut: { drafts } }) => (drafts ? say(words, "drafted", { drafts }) : "");
    const other = (change) => Object.entries(change).some(([name, value]) => store().state[name] !== value);
    const line = (text, change) => make("p", {}, `${text} `, ...(change && other(change) ? [take(words.takeIt, change)] : []));

    /* What is found by trying, each as it is found. */
    const seek = () => {
      const { state, engine } = store(), count = state.tp * state.pp * state.dp;
      const tools = { data, engine, words }, lines = [make("p"), ...[1, 2].map(() => make("p", {}, words.computing))];
      const cards = (number) => fit.soMany(words, data.cards[state.card], number);
      const chosen = ({ cut, pace: median }) => ({ layout: fit.layout(cut) + drafted({ cut }), median: fit.human(median, "s", language) });
      asked.replaceChildren(...lines);
      const put = (place, ...content) => lines[place].replaceWith(lines[place] = line(...content));
      const best = fit.best(tools, state, count);
      const { ranges } = engine.compute(state), spare = ranges.headroom_per_device.value, pace = ranges[fit.pace(state).tpot].value;
      if (spare < 0) put(0, "");
      else if (best?.spare >= 0 && best.pace < pace * (1 - 1e-9)) {
        const { layout, median } = chosen(best);
        put(0, say(words, "fastest", { cards: cards(count), layout, pace: median }), best.cut);
      } else put(0, words.isFastest);
      const cancel = [];
      cancel.push(fit.slowly(fit.mostUsers(tools, state, count), (most) => {
        const place = { pace: state.pace, cards: cards(count) };
        if (most) put(1, say(words, "mostUsers", { ...place, users: most.users, ...chosen(most.found) }), { users: most.users, ...most.found.cut });
        else put(1, say(words, "noUsers", place));
      }));
      cancel.push(fit.slowly(fit.fewestCards(tools, state), (few) => {
        const place = { pace: state.pace, users: state.users, cards: cards(few?.count ?? fit.counts(data, state.card).at(-1)) };
        if (few) put(2, say(words, "fewestCards", { ...place, ...chosen(few.found) }), few.found.cut);
        else put(2, say(words, "noCards", place));
      }));
      fits.replaceChildren();
      if (spare < 0) {
        fits.append(make("li", {}, words.computing));
        cancel.push(fit.slowly(fit.wouldFit(tools, state, count), (changes) => fits.replaceChildren(
          ...changes.map(({ kind, count: many, change, best: { pace: each, cut } }) => make("li", {}, `${say(words, `would_${kind}`, {
            cards: cards(many), users: change.users ?? state.users, layout: fit.layout(cut),
            precision: data.precisions[change.precision ?? state.precision].name[language],
            pace: fit.human(each, "s", language) })} `, take(words.takeIt, change))))));
      }
      stop = () => cancel.forEach((one) => one());
    };

    const show = (result, state, valid) => {
      wanted.fill(state);
      node.classList.toggle("stale", !valid);
      if (!result || !valid) return;
      const { ranges, get, cost } = result, spare = ranges.headroom_per_device.value, ok = spare >= 0;
      const gb = (value) => fit.bytes(Math.abs(value)), names = fit.pace(state);
      said.className = `answer verdict ${ok ? "fitting" : "lacking"}`;
      said.textContent = say(words, ok ? "fitsShort" : "fitsNotShort", { spare: gb(spare), usable: gb(get("usable_memory")) });
      const apart = state.set.separate_pools;
      const rows = [["tpot", "s", names.tpot, "tpot"], ...(apart ? [] : [["ttft", "s", names.ttft, "ttft"]]), ["rate", "1", names.rate, "output_throughput"]];
      const shown = rows.map(([row, unit, name, burst]) => ({ row, unit, told: ranges[name], burst: name !== burst && ranges[burst], factor: 1 }));
      if (cost) shown.push({ row: "million", unit: "1", told: cost.cost_request, factor: MILLION / get("output_tokens") });
      numbers.replaceChildren(...(ok ? shown : []).map(({ row, unit, told, burst, factor }) => make("dl", {},
        make("dt", {}, words[`${row}Row`]), make("dd", {}, make("b", {}, fit.human(told.value * factor, unit, language))),
        make("dd", { class: "range" }, range(unit, told, factor)),
        ...(burst ? [make("dd", { class: "burst" }, say(words, "atOnce", { value: fit.human(burst.value, unit, language) }))] : []))));
      numbers.hidden = !ok;
      unstarted.textContent = fit.unstarted(data, words, state) ?? "";
      const price = state.way === "yours" ? state.price : data.cards[state.card].prices[state.way]?.value;
      paid.textContent = !ok ? "" : cost ? say(words, "paid", { way: words[`${state.way}Way`], price: fit.plain(price), use: fit.plain(state.use) })
        : words.noPriceShort;
      const { runs, outside } = result, axes = outside.map((axis) => data.measured.axes[axis][language]).join(words.comma);
      measured.replaceChildren(...(ok ? [make("a", { href: `${chapters}validation.html` }, runs[language]),
        axes && say(words, "outside", { axes })] : []));
      const now = JSON.stringify(ASKED.map((name) => state[name]));
      if (now === key) return;
      key = now;
      stop();
      asked.replaceChildren(make("p", {}, words.computing));
      clearTimeout(timer);
      timer = setTimeout(seek, PAUSE);
    };
    return { node, show };
  };
})();
