/* What a reader asks of the calculators by trying: the fastest layout of some cards, how many users they take
   within a time per token, how many cards so many users take, and what would fit. */
"use strict";
(() => {
  const fit = globalThis.willItFit;
  const HALVINGS = 14, MILLI = 1e3;
  const REST = 30;  // of the page between two pieces of a longer search, which take about as long [ms]
  const divisors = (whole) => Array.from({ length: whole }, (_, less) => less + 1).filter((part) => whole % part === 0);

  /* Numbers of cards in whole servers, as many as a search tries. */
  fit.counts = (data, card) => Array.from({ length: Math.floor(data.mostCards / data.cards[card].perNode) },
    (_, less) => (less + 1) * data.cards[card].perNode);

  /* Every layout of so many cards that divides the model and that an engine starts, with the tokens that it may draft. */
  function* layouts({ data, words }, state, count) {
    const model = data.models[state.model], card = data.cards[state.card];
    const drafts = model.drafts ? [...new Set([...data.drafting, state.drafts])] : [0];
    const shared = card.starts[model.cache][state.engine].some((one) => one.includes("c"));
    const staged = card.staged.includes(state.engine);  // whether its stages draft
    for (const tp of divisors(count).filter((size) => data.sizes.includes(size))) {
      for (const pp of divisors(count / tp).filter((size) => data.sizes.includes(size) && size <= Math.max(data.stages, state.pp))) {
        const dp = count / (tp * pp);
        for (const ep of divisors(tp * dp)) {
          // as a search: near saturation the closed form of stages that share experts is too fast
          if (pp > 1 && ep > tp || fit.problem(data, words, { ...state, tp, pp, dp, ep, dcp: 1, drafts: 0 })) continue;
          for (const dcp of shared ? divisors(tp).filter((size) => data.sizes.includes(size)) : [1]) {
            const tried = { ...state, tp, pp, dp, ep, dcp, drafts: 0 };
            if (fit.unstarted(data, words, tried) || (dcp > 1 && fit.problem(data, words, tried))) continue;
            yield* drafts.filter((each) => !each || pp === 1 || staged).map((each) => ({ tp, pp, dp, ep, dcp, drafts: each }));
          }
        }
      }
    }
  }

  /* Of them those that fit, the fastest at the inputs' values first, else the one that is the least short. */
  const fitting = (kit, state, count) => {
    const tried = [...layouts(kit, state, count)].map((cut) => {
      const get = kit.engine.glance({ ...state, ...cut });
      return { cut, spare: get("headroom_per_device"), pace: get(fit.pace(state).tpot), most: Math.floor(get("max_concurrency")) };
    });
    const fits = tried.filter(({ spare }) => spare >= 0);
    return fits.length ? fits.sort((one, other) => one.pace - other.pace) : tried.sort((one, other) => other.spare - one.spare).slice(0, 1);
  };

  /* The first of them; null if none divides. */
  fit.best = (kit, state, count) => fitting(kit, state, count)[0] ?? null;

  /* The first that keeps the time per token [ms] in nine of ten draws; null for none. */
  fit.surely = function* (kit, state, count) {
    for (const found of fitting(kit, state, count)) {
      if (found.spare < 0 || found.pace * MILLI > state.pace) return null;
      yield;
      found.slowest = kit.engine.slowest({ ...state, ...found.cut });
      if (found.slowest * MILLI <= state.pace) return found;
    }
    return null;
  };

  /* Pieces of work one after another with rests between, so that the page answers meanwhile; what is
     wanted no longer, stops. */
  fit.slowly = (pieces, done) => {
    let timer = 0;
    const go = () => {
      const until = Date.now() + REST;
      let piece;
      do piece = pieces.next(); while (!piece.done && Date.now() < until);
      if (piece.done) done(piece.value);
      else timer = setTimeout(go, REST);
    };
    timer = setTimeout(go, REST);
    return () => clearTimeout(timer);
  };

  /* The most users whom so many cards serve so, with the layout; null for none. */
  fit.mostUsers = function* (kit, state, count) {
    const { low, high } = kit.data.fields.users;
    let [least, most] = [low, high], kept = null;
    for (let step = 0; step < HALVINGS && least <= most; step += 1) {
      const users = step ? Math.round(Math.sqrt(least * most)) : Math.min(Math.max(state.users, low), high);
      const found = yield* fit.surely(kit, { ...state, users }, count);
      if (found) {
        kept = { users, found };
        least = users + 1;
      } else most = users - 1;
      yield;
    }
    return kept;
  };

  /* The fewest whole servers that serve the users so, with the layout; null for more than are tried. */
  fit.fewestCards = function* (kit, state) {
    for (const count of fit.counts(kit.data, state.card)) {
      const found = yield* fit.surely(kit, state, count);
      if (found) return { count, found };
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

  /* How many cards, or dies of what software sees as devices of their own. */
  fit.soMany = (words, card, count) => fit.say(words, card.die ? "soManyDies" : "soManyCards", { count });

  /* A layout in letters, behind strokes what takes no cards: TP8/EP8. */
  fit.layout = ({ tp, pp, dp, ep, dcp }) => {
    const named = (degrees) => degrees.filter(([, degree]) => degree > 1).map(([name, degree]) => `${name}${degree}`);
    return [named([["TP", tp], ["PP", pp], ["DP", dp]]).join("×") || "TP1", ...named([["DCP", dcp], ["EP", ep]])].join("/");
  };
})();
