/* The arithmetic of the calculators: inputs out of the table, generated formulas in their order,
   intervals from the ranges of the inputs. What is computed stands in formulas.js and table.js, both
   made when the book is built; here is nothing of the physics. */
"use strict";
(() => {
  const fit = (globalThis.willItFit ??= {});
  const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  const clip = (number, low, high) => Math.min(Math.max(number, low), high);
  const sum = (numbers) => numbers.reduce((whole, number) => whole + number, 0);

  /* 10% and 90% points of a sum of independent moves; as calc/uncertainty.py, which says why.
     A move is a pair: at the low end of an input, and at its high end. */
  const summed = (moves, constants) => {
    const { normal90, halfMean, curved } = constants;
    let mean = 0, variance = 0, third = 0, least = 0, most = 0;
    for (const [low, high] of moves) {
      const down = low / normal90, up = high / normal90;
      const middle = (halfMean / 2) * (down + up);
      const square = (down * down + up * up) / 2;
      const cube = halfMean * (down ** 3 + up ** 3);
      mean += middle;
      variance += square - middle * middle;
      third += cube - 3 * middle * square + 2 * middle ** 3;
      least += Math.min(low, high, 0);
      most += Math.max(low, high, 0);
    }
    const deviation = Math.sqrt(variance);
    const skewness = variance > 0 ? third / (variance * deviation) : 0;
    const centre = mean + deviation * skewness * curved;
    return { low: clip(centre - normal90 * deviation, least, 0), high: clip(centre + normal90 * deviation, 0, most) };
  };

  /* Scores of an input in joint draws, by its name; of the formulas' own error by none. */
  const evenScores = (name, { evenly, power, spreading }) => {
    const draws = evenly.length, number = [...name].reduce(
      (found, letter) => (found * spreading + letter.codePointAt(0)) % (draws * (draws - 1)), 0);
    const step = 1 + (number % (draws - 1)), start = Math.floor(number / (draws - 1));
    return evenly.map((_, draw) => evenly[((draw * step + start) % draws) ** power % draws]);
  };

  /* Interval of a quantity from its value and a pair of points of each input; own is the formulas' own
     error, of logarithms only. The ends lie within the farthest of joint draws, which have the own error's
     score, and contain the value. */
  const spread = (value, points, own, constants, joint = []) => {
    const inLog = value > 0 && points.every(([low, high]) => low > 0 && high > 0);
    const scale = inLog ? (number) => Math.log(Math.max(number, constants.smallest)) : (number) => number;
    if (points.length === 1 && !own) return { low: Math.min(...points[0]), value, high: Math.max(...points[0]) };
    const moves = points.map((pair) => pair.map((point) => scale(point) - scale(value)));
    const ends = summed(inLog && own
      ? [...moves, [-constants.normal90 * own[0], constants.normal90 * own[1]]] : moves, constants);
    const drawn = joint.map(([point, score]) => scale(point) - scale(value)
      + score * ((inLog && own) || [0, 0])[Number(score > 0)]).sort((a, b) => a - b);
    const low = Math.min(Math.max(ends.low, drawn[0] ?? -Infinity), 0);
    const high = Math.max(Math.min(ends.high, drawn.at(-1) ?? Infinity), 0);
    const [least, most] = [low, high].map((move) => (inLog ? value * Math.exp(move) : value + move));
    return { low: least, value, high: most };
  };

  class Engine {
    /* data: what table.js says; formulas: what formulas.js says. */
    constructor(data, formulas) {
      this.data = data;
      this.slots = new Map(formulas.names.map((name, slot) => [name, slot]));
      this.programs = formulas.programs;
      this.sizes = data.axes.map((values) => values.length);
      this.cache = new Map();
      this.ranged = {};
      this.priced = {};
      this.paced = {};
      const set = new Set(["request_throughput", "price_card"].map((name) => this.slots.get(name)));
      for (const [attention, program] of Object.entries(this.programs)) {
        this.ranged[attention] = this.leading(program, [...data.ranged, ...data.money, data.floor]);
        this.priced[attention] = program.filter(([slot]) => !set.has(slot));
      }
    }

    /* Of a program what leads to some quantities. */
    leading(program, names) {
      const needed = new Set(names.map((name) => this.slots.get(name)));
      for (const [slot, , uses] of [...program].reverse()) {
        if (needed.has(slot)) uses.forEach((other) => needed.add(other));
      }
      return program.filter(([slot]) => needed.has(slot));
    }

    /* What a column of the table says at a place on its axes. */
    at([, axes, values, at], places) {
      let place = 0;
      for (const axis of axes) place = place * this.sizes[axis] + places[axis];
      if (axes.length) place = typeof at === "string" ? DIGITS.indexOf(at[place]) : at[place];
      return values[place];
    }

    /* Where a state stands on the axes of the table. */
    places(state) {
      const { data } = this, card = data.cards[state.card];
      const kind = {
        card: state.card, cores: data.models[state.model].cores, model: data.models[state.model].sort, precision: state.precision,
        engine: state.engine, servers: Number(state.tp * state.pp * state.dp > card.perNode),
        exchange: Number(state.ep > card.perNode) + Number(state.ep > card.domain),
        sent: 0, replicas: Number(state.dp > 1), drafted: Number(state.drafts > 0),
      };
      const placed = () => data.axisNames.map((name, axis) => data.axes[axis].indexOf(kind[name]));
      if (state.ep > state.tp) kind.sent = 1 + this.at(data.gathers, placed());
      return placed();
    }

    /* Inputs of a state, what has a range, and the formulas' own errors. */
    resolve(state) {
      const { data, slots } = this, { measured } = data, places = this.places(state);
      const v = new Float64Array(slots.size), groups = new Map(), found = { low: {}, high: {}, knob: {}, own: {}, alone: {}, class: {} };
      const read = (column) => {
        const [name] = column, number = this.at(column, places);
        if (number === undefined) return;
        const space = name.indexOf(" "), kind = name.slice(0, space), rest = name.slice(space + 1);
        if (kind === "value") v[slots.get(rest)] = number;
        else if (number === null) delete found[kind][rest];
        else found[kind][rest] = number;
      };
      data.columns.forEach(read);
      for (const [way, columns] of Object.entries(data.switched)) {
        const [name, of] = way.split("=");
        if (state.set[name] === of) columns.forEach(read);
      }
      for (const [symbol, usual] of Object.entries(found.knob)) {
        const name = symbol in state.set ? symbol : usual;  // one that follows another, unless it is set itself
        if (!groups.has(name)) groups.set(name, { slots: [], low: found.low[symbol], high: found.high[symbol] });
        groups.get(name).slots.push(slots.get(symbol));
      }
      for (const [name, knob] of groups) {
        const told = state.set[name] ?? state.set[data.otherwise[name]];
        if (!told) continue;
        [, knob.low, knob.high] = told;
        for (const slot of knob.slots) [v[slot]] = told;
      }
      const set = (name, number) => { if (slots.has(name)) v[slots.get(name)] = number; };
      for (const [name, number] of Object.entries(data.models[state.model].shapes)) set(name, number);
      for (const [name, told] of Object.entries(state.set)) {
        if (typeof told !== "string" && !data.extras[name].knob) set(name, told[0]);
      }
      const vary = state.set.context_only ? 0 : state.vary;
      const numbers = { ...state, ...fit.lengths(state), longest: state.input + state.output, share: state.share / 100, vary, varyToo: vary };
      for (const [field, symbol] of Object.entries(data.set)) set(symbol, numbers[field]);
      const knobs = [...groups].filter(([, { low, high }]) => low < high).map(([name, knob]) => ({ name, ...knob }));
      const apart = v[slots.get("separate_pools")];  // also where only the longest context is known
      const phase = apart ? "decode" : v[slots.get("output_tokens")] <= 1 ? "prefill" : "whole";
      const [ofClass, growth] = phase === "whole" ? [found.own, measured.growth.concurrent] : [found.alone, measured.growth.alone];
      const known = measured.classes[found.class.own], beyond = this.beyond(state, measured.covered[known.covered], apart ? 2 : 1);
      return { v, knobs, own: this.widened(ofClass, beyond, growth), runs: measured.runs[known[phase]],
        outside: Object.keys(beyond).filter((axis) => beyond[axis]) };
    }

    /* By axis how far a state lies outside what was measured, in doublings. */
    beyond(state, covered, pools) {
      const at = {
        requests: state.users / (state.tp * state.pp * state.dp), tensor: state.tp, pipeline: state.pp,
        expert: state.ep, drafts: state.drafts, precision: state.precision, device: this.data.cards[state.card].device, pools,
      };
      const doublings = (axis, [low, high]) => {
        const one = axis === "drafts" ? 1 : 0;
        const [value, least, most] = [at[axis], low, high].map((number) => Math.log2(number + one));
        return Math.max(value - most, least - value, 0);
      };
      const named = ["precision", "device", "pools"];
      return Object.fromEntries(Object.entries(covered).map(([axis, of]) => [axis,
        named.includes(axis) ? Number(!of.includes(at[axis])) : doublings(axis, of)]));
    }

    /* The formulas' own errors at these distances from what was measured. */
    widened(own, beyond, grown) {
      const distance = sum(Object.values(beyond));
      return Object.fromEntries(Object.entries(own).map(([name, size]) => {
        const [quantity, side] = name.split(" ");
        const growth = grown[quantity][side === "down" ? 0 : 1];
        return [name, Math.hypot(size, growth * Math.sqrt(distance))];
      }));
    }

    run(v, program) {
      for (const [slot, formula] of program) v[slot] = formula(v);
    }

    /* Of a program what follows from some slots, in its order. */
    following(program, changed) {
      const key = changed.join();
      let known = this.cache.get(program);
      if (!known) this.cache.set(program, (known = new Map()));
      if (!known.has(key)) {
        const moved = new Set(changed);
        known.set(key, program.filter(([slot, , uses]) => uses.some((other) => moved.has(other)) && moved.add(slot)));
      }
      return known.get(key);
    }

    /* Value and 80% interval of quantities that have one, all unless told, and a program that leads to them. */
    intervals({ v, knobs, own }, whole, ranged = this.data.ranged) {
      const { constants } = this.data, scratch = new Float64Array(v);
      const points = ranged.map(() => []), places = ranged.map((name) => this.slots.get(name));
      for (const knob of knobs) {
        const program = this.following(whole, knob.slots);
        if (!program.length) continue;
        const pair = [knob.low, knob.high].map((end) => {
          scratch.set(v);
          for (const slot of knob.slots) scratch[slot] = end;
          this.run(scratch, program);
          return places.map((place) => scratch[place]);
        });
        places.forEach((_, number) => points[number].push([pair[0][number], pair[1][number]]));
      }
      const drawn = this.drawn(whole, v, knobs, places);
      return Object.fromEntries(ranged.map((name, number) => {
        const value = v[places[number]];
        const known = this.data.steady[name] ?? name;  // a steady state has the errors of a burst
        const sides = `${known} down` in own ? [own[`${known} down`], own[`${known} up`]] : null;
        const joint = drawn.map(({ found, score }) => [found[number], score]);
        return [name, spread(value, points[number], sides, constants, joint)];
      }));
    }

    /* Quantities with all inputs moved at once, with the score of the formulas' own error. */
    drawn(whole, v, knobs, places) {
      const scratch = new Float64Array(v), { constants } = this.data, own = evenScores("", constants);
      const program = this.following(whole, knobs.flatMap(({ slots }) => slots));
      const scored = knobs.map((knob) => ({ ...knob, middle: v[knob.slots[0]], scores: evenScores(knob.name, constants) }));
      return own.map((score, draw) => {
        scratch.set(v);
        for (const { low, high, middle, slots, scores } of scored) {
          const end = scores[draw] > 0 ? high : low, far = Math.abs(scores[draw]) / constants.normal90;
          const moved = low > 0 ? middle * (end / middle) ** far : Math.max(middle + (end - middle) * far, 0);
          for (const slot of slots) scratch[slot] = moved;
        }
        this.run(scratch, program);
        return { found: places.map((place) => scratch[place]), score };
      });
    }

    /* What the card of the fullest pipeline stage holds [B]. */
    memory(attention, v) {
      const scratch = new Float64Array(v), stage = this.slots.get("stage");
      const program = this.following(this.programs[attention], [stage]);
      const read = (name) => scratch[this.slots.get(`memory_${name}`)];
      let fullest = null;
      for (let place = 0; place < v[this.slots.get("pipeline_parallel")]; place += 1) {
        scratch.set(v);
        scratch[stage] = place;
        this.run(scratch, program);
        if (fullest && read("over") <= fullest.over) continue;
        fullest = { over: read("over"), stage: place,
          parts: this.data.memory.map((part) => ({ key: part.key, size: read(part.key) })) };
      }
      return fullest;
    }

    /* Some quantities for other numbers of users, everything else as it is. */
    against(attention, v, users, names) {
      const scratch = new Float64Array(v), slot = this.slots.get("concurrency");
      const program = this.following(this.ranged[attention], [slot]);
      return users.map((count) => {
        scratch.set(v);
        scratch[slot] = count;
        this.run(scratch, program);
        return { users: count, ...Object.fromEntries(names.map((name) => [name, scratch[this.slots.get(name)]])) };
      });
    }

    /* Cost of tokens, with the intervals that come of the throughput and of a card's price [money/s]. */
    cost(attention, v, throughput, price) {
      const slot = (name) => this.slots.get(name), scratch = new Float64Array(v);
      const moved = ["request_throughput", "price_card"].map(slot);
      const program = this.following(this.priced[attention], moved);
      const at = (rate, money) => {
        scratch.set(v);
        scratch[moved[0]] = rate / v[slot("output_tokens")];
        scratch[moved[1]] = money;
        this.run(scratch, program);
        return this.data.money.map((name) => scratch[slot(name)]);
      };
      const values = at(throughput.value, price.value);
      const moves = [["low", "value"], ["high", "value"], ["value", "low"], ["value", "high"]]
        .map(([rate, money]) => at(throughput[rate], price[money]));
      const exact = price.low === price.high;
      return Object.fromEntries(this.data.money.map((name, place) => {
        const pairs = [[moves[0][place], moves[1][place]]];
        if (!exact) pairs.push([moves[2][place], moves[3][place]]);
        return [name, spread(values[place], pairs, null, this.data.constants)];
      }));
    }

    /* Everything that the calculators show of a state which can be laid out. */
    compute(state) {
      const { attention } = this.data.models[state.model], resolved = this.resolve(state);
      const price = this.price(state);
      resolved.v[this.slots.get("price_card")] = price ? price.value : NaN;
      resolved.v[this.slots.get("utilisation")] = state.use / 100;
      this.run(resolved.v, this.programs[attention]);
      const get = (name) => resolved.v[this.slots.get(name)];
      const ranges = this.intervals(resolved, this.ranged[attention]);
      return {
        state, get, ranges, runs: resolved.runs, outside: resolved.outside, memory: this.memory(attention, resolved.v),
        step: this.data.step.map((part) => sum(part.of.map((name) => get(`step_${name}`)))),
        cost: price && this.cost(attention, resolved.v, ranges[fit.pace(state).rate], price),
        curve: (users, names) => this.against(attention, resolved.v, users, names),
      };
    }

    /* Any quantity of a state by its name, without intervals. */
    glance(state) {
      const { v } = this.resolve(state);
      this.run(v, this.ranged[this.data.models[state.model].attention]);
      return (name) => v[this.slots.get(name)];
    }

    /* What nine of ten draws of a time per token do not exceed [s]: the upper end of its 80% interval. */
    slowest(state) {
      const { attention } = this.data.models[state.model], resolved = this.resolve(state), name = fit.pace(state).tpot;
      const program = (this.paced[`${attention} ${name}`] ??= this.leading(this.programs[attention], [name]));
      this.run(resolved.v, program);
      return this.intervals(resolved, program, [name])[name].high;
    }

    /* What a card costs [money/s]: as the catalogue has it for a way of having one, or the reader's. */
    price(state) {
      const hour = 3600;
      if (state.way === "yours") return state.price && { value: state.price / hour, low: state.price / hour, high: state.price / hour };
      const known = this.data.cards[state.card].prices[state.way];
      return known ? { value: known.value / hour, low: known.low / hour, high: known.high / hour } : null;
    }
  }

  Object.assign(fit, { Engine, spread });
})();
