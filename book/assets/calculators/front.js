/* The calculator of the front page: card, count, model, precision, load; the fastest layout of all, what a user
   gets of it, and how to go on. */
"use strict";
(() => {
  const fit = globalThis.willItFit;
  const PAUSE = 250;  // before layouts are tried anew while a slider moves [ms]

  const command = (state, count) => [`will-it-fit search r1-matrix --set model=${state.model}`,
    `--set devices=${state.card.split("@")[0]} --set cards.fewest=${count} --set cards.most=${count}`,
    `--set precisions=${state.precision}${state.engine === "none" ? "" : ` --set engines=${state.engine}`}`,
    `--set space.drafts=${state.drafts} --set space.memory_utilization=${state.share / 100} --set space.chunks=${state.chunk}`,
    `--set demand.users=${state.users} --set demand.input_tokens=${state.input} --set demand.output_tokens=${state.output}`,
    `--set demand.length_${state.vary ? `variation=${state.vary}` : "distribution=constant"}`].join(" \\\n    ");

  fit.front = (kit) => (root) => {
    const { store, choice, weights, number, named, ranged, words, language, data, make, say } = kit;
    let wanted = null, tried = "", timer = 0;
    const counted = (state) => wanted ?? state.tp * state.pp * state.dp;
    const seek = () => {
      const { state, engine } = store(), allowed = fit.counts(data, state.card);
      const count = allowed.includes(counted(state)) ? counted(state) : allowed[0];
      const key = JSON.stringify([count, state.card, state.model, state.precision, state.engine, state.users, state.input, state.output, state.vary]);
      if (key === tried) return;
      tried = key;
      wanted = count;
      const found = fit.best({ data, engine, words }, state, count);
      none.textContent = found ? "" : fit.tooLong(data, words, state) ?? say(words, "noCut", { cards: fit.soMany(words, data.cards[state.card], count), model: data.models[state.model].name[language] });
      if (found) store().change(found.cut);
    };
    const size = make("select", { name: "count" });
    size.addEventListener("change", () => {
      wanted = Number(size.value);
      seek();
    });
    const usual = Object.keys(data.cards).filter((name) => data.cards[name].device === name);
    const controls = [choice("model", () => named(data.models)), null, choice("card", () => named(data.cards, usual)),
      weights(), choice("engine", (state) => named(data.engines, data.cards[state.card].engines))];
    const sliders = ["users", "input", "output"].map((key) => number(key, ranged[key]));
    const summary = fit.summary(kit, "chapters/"), none = make("p", { class: "refusal", role: "alert" });
    const plan = make("p", { class: "plan" }), code = make("code");
    const go = make("a", { href: "chapters/calculators.html" }, words.takeApart);
    const proof = make("a", { href: "chapters/memory.html" }, words.proof);
    root.append(
      make("div", { class: "fields" }, ...controls.map((control) => control?.node
        ?? make("label", { class: "field" }, make("span", {}, words.count), size)), ...sliders.map(({ node }) => node)),
      none, plan, summary.node,
      make("details", {}, make("summary", {}, words.command), make("pre", {}, code)),
      make("p", { class: "onward" }, go, " · ", proof));
    return (result, state, problem, refused) => {
      for (const control of [...controls, ...sliders]) control?.fill(state);
      const options = fit.counts(data, state.card), count = state.tp * state.pp * state.dp;
      size.replaceChildren(...options.map((value) => make("option", { value }, fit.soMany(words, data.cards[state.card], value))));
      size.value = String(count);
      if (refused) none.textContent = refused;
      clearTimeout(timer);
      timer = setTimeout(seek, PAUSE);
      summary.show(result, state, !problem);
      if (!result) return;
      plan.hidden = result.ranges.headroom_per_device.value < 0;  // no layout of those that fit
      plan.textContent = say(words, "plan", { cut: fit.layout(state) + (state.drafts ? say(words, "drafted", { drafts: state.drafts }) : ""),
        cards: fit.soMany(words, data.cards[state.card], count) });
      code.textContent = command(state, count);
      go.href = `chapters/calculators.html${fit.toLink(data, state)}`;
    };
  };
})();
