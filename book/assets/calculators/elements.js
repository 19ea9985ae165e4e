/* <will-it-fit view="…">: the fields and the four calculators of a page, which share one state. */
"use strict";
(() => {
  const fit = globalThis.willItFit;
  const { data, make, bar, chart, digits, bytes, time, say } = fit;
  const language = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
  const words = data.words[language];
  const CURVE = 40, SETTLED = 250, LOG_STEPS = 1000;
  const MILLION = 1e6;  // tokens that a price is of
  const range = (unit, { low, high, value = 0 }, factor = 1) => fit.span(low * factor, high * factor, unit, language, value * factor);
  const million = (value) => digits(value * MILLION);

  /* The one state of the page; views are told of what was computed, or of why nothing was. */
  class Store {
    constructor() {
      this.engine = new fit.Engine(data, fit.formulas);
      this.views = new Set();
      this.state = { ...data.usual };
      this.refused = "";
      this.timer = 0;
      this.read();
      addEventListener("hashchange", () => { if (this.read()) this.tell(); });
    }

    /* Take the state of the address, if it has one. */
    read() {
      if (!location.hash.includes("=")) return false;
      const refused = [];
      this.state = fit.fromLink(data, words, location.hash, refused);
      this.refused = refused.join(" ");
      return true;
    }

    /* Take a deployment as it is, what it costs as it was. */
    load(deployment) {
      this.state = { ...this.state, ...deployment };
      this.change({});
    }

    /* Take what was changed, and with a card or a model what it can do. */
    change(part) {
      const state = { ...this.state, ...part }, card = data.cards[state.card], model = data.models[state.model];
      if (part.card) {  // what the card cannot do goes with the card before
        if (!card.engines.includes(state.engine)) state.engine = data.usual.engine;
        if (!card.prices[state.way]) state.way = Object.keys(card.prices)[0] ?? "yours";
      }
      const held = fit.precisions(data, state);
      if (part.card || !held.includes(state.precision)) state.precision = [model.weights, "w8a8-int8", ...held, state.precision].find((name) => held.includes(name)) ?? state.precision;
      const block = (of) => (data.models[of.model].attention === "csa" ? data.cards[of.card].blocks[of.engine] : data.cards[of.card].block);
      if (part.card || block(state) !== block(this.state)) state.block = block(state);  // of its kernels
      if (part.card || part.engine) state.set = fit.kept(state.set, (name) => !data.extras[name].knob);  // measured of another
      if (part.model) {
        if (!model.drafts) state.drafts = 0;
        if (!model.experts) {
          state.ep = 1;
          state.set = fit.kept(state.set, (name) => data.extras[name].section !== "parallelism");
        }
      }
      this.state = state;
      this.refused = "";
      this.tell();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => history.replaceState(null, "", fit.toLink(data, this.state)), SETTLED);
    }

    tell() {
      const problem = fit.problem(data, words, this.state);
      if (!problem) this.result = this.engine.compute(this.state);
      for (const view of this.views) view.show(this.result, this.state, problem ?? "", this.refused);
    }
  }
  let store = null;

  const labelled = (key, control, ...more) => make("label", { class: "field" }, make("span", {}, words[key]), control, ...more);

  /* A choice of a few. */
  const choice = (key, options) => {
    const control = make("select", { name: key });
    control.addEventListener("change", () => {
      const field = data.fields[key].of;
      store.change({ [key]: !field ? Number(control.value) : Array.isArray(field) ? field.find((one) => String(one) === control.value) : control.value });
    });
    const fill = (state) => {
      const wanted = options(state), now = JSON.stringify(wanted);
      if (control.dataset.options !== now) {
        control.dataset.options = now;
        control.replaceChildren(...wanted.map(({ value, text }) => make("option", { value }, text)));
      }
      control.value = String(state[key]);
    };
    return { node: labelled(key, control), fill };
  };

  /* A number: a slider for the hand and a field for who knows it; a slider over powers is logarithmic. */
  const number = (key, { low, high, log = false }) => {
    const field = data.fields[key], step = field.step ?? "any";
    const slider = make("input", { type: "range", "aria-label": words[key],
      ...(log ? { min: 0, max: LOG_STEPS, step: 1 } : { min: low, max: high, step: field.step ?? 1 }) });
    const exact = make("input", { type: "number", name: key, min: field.low, max: field.high, step });
    const toValue = (place) => (log ? Math.round(low * (high / low) ** (place / LOG_STEPS)) : place);
    const toPlace = (value) => (log ? LOG_STEPS * Math.log(value / low) / Math.log(high / low) : value);
    slider.addEventListener("input", () => store.change({ [key]: toValue(Number(slider.value)) }));
    const wrong = make("small", { class: "refusal", role: "alert" });
    exact.addEventListener("change", () => {
      const value = Number(exact.value), whole = field.step !== 1 || Number.isInteger(value);
      const fine = exact.value !== "" && whole && value >= field.low && value <= field.high;
      wrong.textContent = fine ? "" : say(words, "outOfRange", { key: words[key], text: exact.value, low: field.low, high: field.high });
      if (fine) store.change({ [key]: value });
      else exact.value = store.state[key];
    });
    const fill = (state) => {
      if (document.activeElement !== slider) slider.value = toPlace(state[key]);
      slider.setAttribute("aria-valuetext", digits(state[key], 9));
      if (exact.value !== String(state[key])) [exact.value, wrong.textContent] = [state[key], ""];
    };
    return { node: make("div", { class: "field" }, labelled(key, exact), slider, wrong), fill };
  };

  /* Of a number the usual sizes, and the one that it has. */
  const sized = (number) => [...new Set([...data.sizes, number])].sort((one, other) => one - other);
  const listed = (key) => choice(key, (state) => (data.fields[key].of ?? sized(state[key])).map((value) => ({ value, text: String(value) })));
  const named = (entries, only) => (only ?? Object.keys(entries)).map((value) => ({ value, text: entries[value].name[language] }));
  /* Precisions by their names without what stands in parentheses or after a comma, where they can be told apart without it. */
  const brief = (options) => {
    const short = (text) => text.split(/\s*[（(,，]/)[0], said = options.map(({ text }) => short(text));
    return options.map(({ value, text }, place) => ({ value, text: said.indexOf(said[place]) === said.lastIndexOf(said[place]) ? said[place] : text }));
  };
  const weights = () => choice("precision", (state) => brief(named(data.precisions, fit.precisions(data, state))));
  const ranged = {
    users: { low: 1, high: 32768, log: true }, input: { low: 16, high: 131072, log: true },
    output: { low: 1, high: 16384, log: true }, vary: { low: 0, high: 2 }, share: { low: 50, high: 100 }, use: { low: 1, high: 100 },
  };

  const kit = () => ({ store: () => store, choice, listed, weights, number, named, ranged, words, language, data, make, say, answer, range, MILLION });

  const panel = (root) => {
    const controls = [
      choice("card", () => named(data.cards)), choice("model", () => named(data.models)),
      weights(), choice("engine", (state) => named(data.engines, data.cards[state.card].engines)),
    ], degrees = ["tp", "pp", "dp", "ep"].map(listed);
    const sliders = [...["users", "input", "output"].map((key) => number(key, ranged[key])), listed("drafts")];
    const others = [...["vary", "share"].map((key) => number(key, ranged[key])), ...["dcp", "chunk", "block"].map(listed)];
    const summary = fit.summary(kit());
    const more = fit.also(() => store, words), cluster = make("p", { class: "cluster" }), refusal = make("p", { class: "refusal", role: "alert" });
    const done = make("span", { class: "done", "aria-live": "polite" });
    const button = (key, press) => {
      const found = make("button", { type: "button" }, words[key]);
      found.addEventListener("click", press);
      return found;
    };
    const file = make("input", { type: "file", accept: ".yml,.yaml", hidden: true, "aria-label": words.load });
    file.addEventListener("change", async () => {
      const [chosen] = file.files;
      if (!chosen) return;
      try {
        if (chosen.size > fit.MOST_BYTES) throw new fit.Refusal(words.tooLarge);
        store.load(fit.fromYaml(data, words, await chosen.text()));
        done.textContent = say(words, "loaded", { name: chosen.name });
      } catch (error) {
        store.refused = error instanceof fit.Refusal ? error.message : words.notRead;
        store.tell();
      }
      file.value = "";
    });
    root.append(
      summary.node, make("div", { class: "fields" }, ...controls.map(({ node }) => node)),
      make("div", { class: "fields degrees" }, ...degrees.map(({ node }) => node)), cluster,
      make("div", { class: "fields" }, ...sliders.map(({ node }) => node)),
      make("details", {}, make("summary", {}, words.more), make("div", { class: "fields" }, ...others.map(({ node }) => node))),
      more.node, refusal,
      make("p", { class: "buttons" },
        button("link", async () => {
          history.replaceState(null, "", fit.toLink(data, store.state));
          try {
            await navigator.clipboard.writeText(location.href);
            done.textContent = words.copied;
          } catch {
            done.textContent = words.notCopied;
          }
        }),
        button("download", () => {
          const address = URL.createObjectURL(new Blob([fit.toYaml(data, store.state)], { type: "text/yaml" }));
          make("a", { href: address, download: `${data.cards[store.state.card].device}-${store.state.model}.yml` }).click();
          URL.revokeObjectURL(address);
        }),
        button("load", () => file.click()), file, done));
    return (result, state, problem, refused) => {
      for (const { fill } of [...controls, ...degrees, ...sliders, ...others, more]) fill(state);
      const card = data.cards[state.card], count = state.tp * state.pp * state.dp;
      cluster.textContent = say(words, "cards", { cards: fit.soMany(words, card, count), nodes: Math.ceil(count / card.perNode), node: card.node });
      refusal.textContent = [refused, problem, problem && words.kept].filter(Boolean).join(" ");
      summary.show(result, state, !problem);
    };
  };

  // what a part of memory, or of a step, is, by which it is coloured: in the order of table.js
  const HELD = ["read", "drafts", "cache", "compute", "links", "host", "host-too"];
  const TAKEN = ["read", "compute", "read-too", "cache", "compute-too", "links", "host", "links-too", "host-too", "drafts", "stalls"];
  const BAR = 56, CHART = 300, ROOF = 380;  // heights of the pictures [CSS pixels]
  const picture = (key, height) => fit.picture(words[key], height, () => store.tell());
  const caption = (key) => make("p", { class: "caption" }, words[key]);
  const answer = () => make("p", { class: "answer", "aria-live": "polite" });
  const legend = () => make("ul", { class: "legend" });
  const fill = (node, parts, format) => node.replaceChildren(...parts.map(({ size, colour, label }) =>
    make("li", {}, make("span", { class: `swatch part-${colour}` }), `${label} `, make("b", {}, format(size)))));

  const whole = (count) => Math.max(0, Math.floor(count));

  const memory = (root) => {
    const said = answer(), drawn = picture("memoryCaption", BAR), list = legend();
    root.append(said, drawn, caption("memoryCaption"), list);
    return ({ get, ranges, memory: held, state }) => {
      const headroom = ranges.headroom_per_device, spare = { value: headroom.value }, most = Math.floor(ranges.max_concurrency.value);
      const values = {
        spare: bytes(spare.value), short: bytes(-spare.value), usable: bytes(get("usable_memory")),
        range: range("B", headroom), most: digits(most, 9), users: digits(state.users, 9),
        mostRange: range("1", { low: whole(ranges.max_concurrency.low), high: whole(ranges.max_concurrency.high) }),
      };
      const ends = spare.value >= 0 ? "" : most < 1 ? words.noRequest : say(words, "cacheEnds", values);
      const stage = state.pp > 1 ? ` (${say(words, "partly", { stage: held.stage + 1, stages: state.pp })})` : "";
      said.textContent = `${say(words, spare.value >= 0 ? "fits" : "fitsNot", values)} ${ends}`.trim();
      const parts = held.parts.map(({ key, size }, place) => ({ size, colour: HELD[place], label: words[key] + (place ? "" : stage) }));
      const taken = parts.reduce((whole, { size }) => whole + size, 0), usable = get("usable_memory");
      const rest = spare.value >= 0 ? [{ size: spare.value, colour: "spare", label: words.spare }] : [{ size: -spare.value, colour: "over", label: words.over }];
      bar(drawn, { parts: [...parts, ...(spare.value >= 0 ? rest : [])], whole: Math.max(taken, usable, get("memory_capacity")), marks: [{ at: usable }] });
      fill(list, [...parts, ...rest], bytes);
    };
  };

  /* Numbers of users from one to a little more than fit, and the axis of them. */
  const counts = (state, most) => {
    const high = Math.max(16, 2 * Math.min(most, 8192), 1.25 * state.users);
    const found = Array.from({ length: CURVE }, (_, place) => Math.round(high ** (place / (CURVE - 1))));
    return { users: [...new Set(found)], axis: { low: 1, high, log: true, title: words.users } };
  };

  const speed = (root) => {
    const users = number("users", ranged.users), said = answer();
    const whole = picture("stepCaption", BAR), list = legend(), hidden = make("p", { class: "caption" });
    const drawn = picture("curveCaption", CHART);
    root.append(users.node, said, whole, caption("stepCaption"), list, hidden, drawn, caption("curveCaption"));
    return (result, now) => {
      const { ranges, step, state } = result;
      users.fill(now);
      const values = {};
      const names = fit.pace(state), bursts = { tpot: "tpot", ttft: "ttft", rate: "output_throughput" };
      for (const [key, unit] of [["tpot", "s"], ["ttft", "s"], ["rate", "1"]]) {
        for (const [which, of] of [[key, names], [`${key}Burst`, bursts]]) {
          values[which] = fit.human(ranges[of[key]].value, unit, language);
          values[`${which}Range`] = range(unit, ranges[of[key]]);
        }
      }
      const lacking = ranges.headroom_per_device.value < 0, apart = state.set.separate_pools;
      said.textContent = lacking ? words.noTimes : state.set.context_only ? say(words, "fast", values)
        : `${say(words, apart ? "fastApart" : "fast", values)} ${say(words, apart ? "burstApart" : "burst", values)}`;
      const parts = step.slice(0, -1).map((size, place) => ({ size, colour: TAKEN[place], label: data.step[place][language] }));
      bar(whole, { parts, whole: parts.reduce((total, { size }) => total + size, 0) });
      fill(list, parts.filter(({ size }) => size > 0), time);
      hidden.textContent = step.at(-1) < 0 ? say(words, "hides", { hidden: time(-step.at(-1)) }) : "";
      const most = Math.floor(ranges.max_concurrency.value), { users: tried, axis } = counts(state, most);
      for (const each of [whole, list, hidden]) each.toggleAttribute("hidden", lacking);
      const points = result.curve(tried, [names.tpot, "tpot_floor"]), pace = ranges[names.tpot];
      const milli = (value) => value * 1e3;
      const every = points.flatMap(({ [names.tpot]: tpot, tpot_floor: floor }) => [tpot, floor]).filter((value) => value > 0).map(milli);
      chart(drawn, {
        x: axis, y: { low: Math.min(...every) / 1.2, high: Math.max(...every, milli(pace.high)) * 1.2, log: true, title: `${words.tpot}, ms` },
        lines: [{ points: points.map((point) => [point.users, milli(point.tpot_floor)]), kind: "floor" },
          { points: points.map((point) => [point.users, milli(point[names.tpot])]), kind: "value" }],
        dots: lacking ? [] : [{ x: state.users, y: milli(pace.value), low: milli(pace.low), high: milli(pace.high) }],
        limits: [{ at: most }],
      });
    };
  };

  const cost = (root) => {
    const way = choice("way", (state) => data.fields.way.of.filter((one) => one === "yours" || data.cards[state.card].prices[one])
      .map((value) => ({ value, text: say(words, value, { value: digits(data.cards[state.card].prices[value]?.value ?? 0) }) })));
    const price = number("price", { low: 0.1, high: 20 }), use = number("use", ranged.use), users = number("users", ranged.users);
    const said = answer(), source = make("p", { class: "caption" }), drawn = picture("costCaption", CHART);
    root.append(make("div", { class: "fields" }, ...[way, price, use, users].map(({ node }) => node)), said, source, drawn, caption("costCaption"));
    return (result, now) => {
      for (const control of [way, price, use, users]) control.fill(now);
      price.node.hidden = now.way !== "yours";
      const { cost: money, state, ranges } = result, lacking = ranges.headroom_per_device.value < 0;
      drawn.toggleAttribute("hidden", !money || lacking);
      if (!money || lacking) {
        said.textContent = lacking ? words.noTimes : words.noPrice;
        source.textContent = "";
        return;
      }
      const values = { request: digits(money.cost_request.value) };
      for (const [key, name] of [["output", "cost_output_token"], ["input", "cost_input_token"]]) {
        values[key] = million(money[name].value);
        values[`${key}Range`] = range("1", money[name], MILLION);
      }
      said.textContent = say(words, "costs", values);
      const known = data.cards[state.card].prices[state.way];
      source.textContent = state.way === "yours" ? say(words, "yourPrice", { value: digits(state.price) })
        : say(words, "priceSource", { value: digits(known.value), range: range("1", known), source: known.source });
      const most = Math.floor(ranges.max_concurrency.value), { users: tried, axis } = counts(state, most);
      const { rate } = fit.pace(state);  // by which the runtime prices, too
      const points = result.curve(tried, ["cost_output_token", "output_throughput", rate])
        .map((point) => [point.users, (point.cost_output_token * 1e6 * point.output_throughput) / point[rate]]);
      const every = points.map(([, value]) => value);
      chart(drawn, {
        x: axis, y: { low: Math.min(...every) / 1.3, high: Math.max(...every) * 1.3, log: true, title: words.perOutput },
        lines: [{ points, kind: "value" }],
        dots: [{ x: state.users, y: money.cost_output_token.value * 1e6, low: money.cost_output_token.low * 1e6, high: money.cost_output_token.high * 1e6 }],
        limits: [{ at: most }],
      });
    };
  };

  const roofline = (root) => {
    let phase = "decode";
    const pick = make("select", { name: "phase" }, ...["decode", "prefill"].map((value) => make("option", { value }, words[value])));
    const said = answer(), drawn = picture("roofCaption", ROOF), body = make("tbody");
    const head = make("tr", {}, ...["operator", "intensity", "reached", "time", "boundBy"].map((key) => make("th", { scope: "col" }, words[key])));
    root.append(labelled("phase", pick), said, drawn, caption("roofCaption"),
      make("div", { class: "scrolls", tabindex: 0 }, make("table", {}, make("thead", {}, head), body)));
    let last = null;
    const show = (result) => {
      last = result;
      const { get } = result, bandwidth = get("memory_bandwidth");
      const operators = data.operators.map(({ key, [language]: name }) => ({
        name, intensity: get(`intensity_${phase}_${key}`), reached: get(`reached_${phase}_${key}`),
        peak: get(`${key}_peak`), time: get(`${phase}_${key}_time`),
      })).filter(({ time: taken, intensity }) => taken > 0 && intensity > 0 && Number.isFinite(intensity));
      const peaks = [...new Set(operators.map(({ peak }) => peak))];
      const high = Math.max(...peaks), longest = operators.reduce((one, other) => (other.time > one.time ? other : one));
      said.textContent = say(words, "roof", { phase: words[phase], name: longest.name, intensity: digits(longest.intensity),
        reached: digits(longest.reached / 1e12), ridge: digits(longest.peak / bandwidth) });
      const low = Math.min(0.5, ...operators.map(({ intensity }) => intensity)) / 1.5;
      const right = Math.max((4 * high) / bandwidth, 1.5 * Math.max(...operators.map(({ intensity }) => intensity)));
      const bottom = Math.min(...operators.map(({ reached }) => reached), low * bandwidth) / 1e12 / 1.5;
      chart(drawn, {
        x: { low, high: right, log: true, title: words.intensity },
        y: { low: bottom, high: (high / 1e12) * 2, log: true, title: "TFLOPS" },
        lines: peaks.map((peak) => ({ kind: "roof", points: [[low, (low * bandwidth) / 1e12], [peak / bandwidth, peak / 1e12], [right, peak / 1e12]] })),
        dots: operators.map(({ name, intensity, reached }, place) => ({ x: intensity, y: reached / 1e12, label: String(place + 1) })),
      });
      body.replaceChildren(...operators.map(({ name, intensity, reached, peak, time: taken }, place) => make("tr", {},
        make("td", {}, `${place + 1}. ${name}`), ...[digits(intensity), digits(reached / 1e12), time(taken),
          intensity * bandwidth > peak ? words.compute : words.bandwidth].map((text) => make("td", {}, text)))));
    };
    pick.addEventListener("change", () => {
      phase = pick.value;
      if (last) show(last);
    });
    return show;
  };

  const VIEWS = { panel, memory, speed, cost, roofline };
  if (fit.front) VIEWS.front = fit.front(kit());

  /* Only what is in sight is drawn at once; the rest when it comes into sight, or is printed. */
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) target.inSight(isIntersecting);
  }, { rootMargin: "25%" });
  addEventListener("beforeprint", () => store?.views.forEach((view) => view.inSight(true)));

  customElements.define("will-it-fit", class extends HTMLElement {
    connectedCallback() {
      const kind = this.getAttribute("view");
      if (this.draw || !Object.hasOwn(VIEWS, kind)) return;
      store ??= new Store();
      const root = make("div", { class: `calculator ${kind}` });
      this.draw = VIEWS[kind](root);
      this.replaceChildren(root);
      store.views.add(this);
      this.seen = true;
      sight.observe(this);
      if (store.views.size === document.querySelectorAll("will-it-fit").length) store.tell();
    }

    inSight(seen) {
      this.seen = seen;
      if (seen && this.late) this.show(...this.late);
    }

    /* What was computed; without anything new the last picture stays. */
    show(result, state, problem, refused) {
      this.late = this.seen ? null : [result, state, problem, refused];
      if (this.late) return;
      this.classList.toggle("stale", Boolean(problem));
      if (["panel", "front"].includes(this.getAttribute("view")) || (result && !problem)) this.draw(result, state, problem, refused);
    }
  });
})();
