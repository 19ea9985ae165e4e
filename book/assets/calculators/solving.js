/* What a reader asks of the calculators by trying: the fastest layout of some cards, how many users they take
   within a time per token, how many cards so many users take, and what would fit. */
"use strict";
(() => {
  const fit = globalThis.willItFit;
  const SERVERS = [1, 2, 3, 4, 6, 8, 12, 16], HALVINGS = 14, MILLI = 1e3;
  const REST = 30;  // of the page between two pieces of a longer search [ms]

  /* Numbers of cards in whole servers that the table has. */
  fit.counts = (data, card) => SERVERS.map((servers) => servers * data.cards[card].perNode)
    .filter((count) => count <= data.sizes.at(-1));

  /* Of every layout of so many cards that divides the model and that an engine starts, with the tokens that it
     may draft: of those that fit the fastest, else the one that is the least short; null if none divides. */
  fit.best = ({ data, engine, words }, state, count) => {
    const drafts = data.models[state.model].drafts ? [...new Set([...data.drafting, state.drafts])] : [0];
    const sharing = data.cards[state.card].starts[data.models[state.model].cache][state.engine].some((one) => one.includes("c"))
      ? [1, 2, 4, 8, 16] : [1];
    const staged = data.cards[state.card].staged.includes(state.engine);  // whether its stages draft
    let found = null;
    for (const tp of data.sizes) {
      for (const pp of data.sizes) {
        const dp = count / (tp * pp);
        if (!data.sizes.includes(dp)) continue;
        if (pp > Math.max(data.stages, state.pp)) continue;
        // as a search: near saturation the closed form of stages that share experts is too fast
        if (pp > 1 && dp > 1 && data.models[state.model].experts) continue;
        for (const ep of data.sizes) {
          if (fit.problem(data, words, { ...state, tp, pp, dp, ep, dcp: 1, drafts: 0 })) continue;
          for (const [each, dcp] of drafts.flatMap((one) => sharing.map((ranks) => [one, ranks]))) {
            if (each && pp > 1 && !staged) continue;
            const tried = { ...state, tp, pp, dp, ep, dcp, drafts: 0 };
            if (fit.unstarted(data, words, tried) || (dcp > 1 && fit.problem(data, words, tried))) continue;
            const cut = { tp, pp, dp, ep, dcp, drafts: each }, get = engine.glance({ ...state, ...cut });
            const spare = get("headroom_per_device"), pace = get(fit.pace(state).tpot);
            const better = !found || (spare >= 0 ? found.spare < 0 || pace < found.pace : found.spare < spare && found.spare < 0);
            if (better) found = { spare, pace, cut, most: Math.floor(get("max_concurrency")) };
          }
        }
      }
    }
    // chosen by what the inputs' values give, told as everywhere: by the median
    return found && { ...found, pace: engine.compute({ ...state, ...found.cut }).ranges[fit.pace(state).tpot].value };
  };

  const keeps = (found, pace) => Boolean(found) && found.spare >= 0 && found.pace * MILLI <= pace;

  /* Pieces of work one after another with rests between, so that the page answers meanwhile; what is
     wanted no longer, stops. */
  fit.slowly = (pieces, done) => {
    let timer = 0;
    const go = () => {
      const { value, done: over } = pieces.next();
      if (over) done(value);
      else timer = setTimeout(go, REST);
    };
    timer = setTimeout(go, REST);
    return () => clearTimeout(timer);
  };

  /* The most users whom so many cards serve within a time per token [ms], with the layout; null for none. */
  fit.mostUsers = function* (kit, state, count) {
    const { low, high } = kit.data.fields.users;
    let [least, most] = [low, high], kept = null;
    for (let step = 0; step < HALVINGS && least <= most; step += 1) {
      const users = step ? Math.round(Math.sqrt(least * most)) : Math.min(Math.max(state.users, low), high);
      const found = fit.best(kit, { ...state, users }, count);
      if (keeps(found, state.pace)) {
        kept = { users, found };
        least = users + 1;
      } else most = users - 1;
      yield;
    }
    return kept;
  };

  /* The fewest whole servers that serve the users within the time, with the layout; null for more than known. */
  fit.fewestCards = function* (kit, state) {
    for (const count of fit.counts(kit.data, state.card)) {
      const found = fit.best(kit, state, count);
      if (keeps(found, state.pace)) return { count, found };
      yield;
    }
    return null;
  };

  /* What would fit where a layout does not: other weights on the same cards, fewer users, more servers. */
  fit.wouldFit = function* (kit, state, count) {
    const found = [], { data } = kit;
    const tried = (change, cards) => {
      const other = { ...state, ...change }, best = fit.best(kit, other, cards);
      return best && { change: { ...change, ...best.cut }, count: cards, best };
    };
    const same = tried({}, count);
    if (same?.best.spare >= 0) found.push({ kind: "layout", ...same });
    else if (same?.best.most >= 1) found.push({ kind: "users", ...same, change: { ...same.change, users: same.best.most } });
    yield;
    for (const precision of fit.precisions(data, state).filter((name) => name !== state.precision)) {
      const other = tried({ precision }, count);
      if (other?.best.spare >= 0) {
        found.push({ kind: "weights", ...other });
        break;
      }
      yield;
    }
    for (const more of fit.counts(data, state.card).filter((cards) => cards > count)) {
      const other = tried({}, more);
      if (other?.best.spare >= 0) {
        found.push({ kind: "cards", ...other });
        break;
      }
      yield;
    }
    return found;
  };

  /* A layout in letters, behind strokes what takes no cards: TP8/EP8. */
  fit.layout = ({ tp, pp, dp, ep, dcp }) => {
    const named = (degrees) => degrees.filter(([, degree]) => degree > 1).map(([name, degree]) => `${name}${degree}`);
    return [named([["TP", tp], ["PP", pp], ["DP", dp]]).join("×") || "TP1", ...named([["DCP", dcp], ["EP", ep]])].join("/");
  };
})();
