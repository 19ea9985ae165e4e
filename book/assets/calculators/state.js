/* The state of the calculators: what can be chosen, in a link and in a scenario file. Text from
   outside is only compared and counted, never run and never put into a page as markup. */
"use strict";
(() => {
  const fit = (globalThis.willItFit ??= {});

  /* Precisions that a card multiplies of a model: caches of some models have formats of their own. */
  fit.precisions = (data, { card, model }) => data.cards[card].own[data.models[model].formats] ?? data.cards[card].precisions;
  const MOST_BYTES = 10 * 2 ** 20, MOST_LINE = 1000;
  const NUMBER = /^\d{1,9}(\.\d{1,6})?$/, EXACT = /^\d{1,15}(\.\d{1,25})?(e[+-]?\d{1,2})?$/;
  const SET = "set.";

  class Refusal extends Error {}  // its message is a sentence for the reader

  /* A sentence of the dictionary with its places filled in, as text. */
  const say = (words, key, values = {}) =>
    words[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

  const short = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

  /* One value of a state, as it is written; refuses what is none. */
  const value = (data, words, key, text) => {
    const field = data.fields[key];
    if (!field) throw new Refusal(say(words, "unknownKey", { key: short(key) }));
    const listed = field.of === "ids" ? Object.keys(data[field.from]) : field.of;
    if (Array.isArray(listed)) {
      const found = listed.find((one) => String(one) === text);
      if (found === undefined) throw new Refusal(say(words, "unknownValue", { key, text: short(text) }));
      return found;
    }
    const number = NUMBER.test(text) ? Number(text) : NaN;
    const whole = field.step !== 1 || Number.isInteger(number);
    if (!whole || !(number >= field.low && number <= field.high)) {
      throw new Refusal(say(words, "outOfRange", { key, text: short(text), low: field.low, high: field.high }));
    }
    return number;
  };

  /* One of what a state sets besides its fields: one of a few ways, or its value with the ends of its range. */
  const setting = (data, words, name, texts) => {
    const known = Object.hasOwn(data.extras, name) ? data.extras[name] : null;
    if (!known) throw new Refusal(say(words, "unknownKey", { key: short(name) }));
    const wrong = (key) => new Refusal(say(words, key, { key: name, text: short(texts.join(" ")),
      low: known.low, high: known.high ?? data.largest }));
    if (known.of) {
      if (texts.length !== 1 || !Object.hasOwn(known.of, texts[0])) throw wrong("unknownValue");
      return texts[0];
    }
    const [middle, low = middle, high = middle] = texts.map((text) => (EXACT.test(text) ? Number(text) : NaN));
    const fine = (number) => number >= known.low && !(known.more && number === known.low) && number <= (known.high ?? data.largest)
      && (number === 0 || number >= data.smallest) && !(known.step && !Number.isInteger(number));
    if (texts.length === 2 || texts.length > 3 || ![middle, low, high].every(fine) || low > middle || middle > high) throw wrong("outOfRange");
    return [middle, low, high];
  };

  /* A state with one more thing set. */
  const withSet = (data, words, state, name, texts) => {
    const set = { ...state.set, [name]: setting(data, words, name, texts) };
    if (Object.keys(set).length > data.most) throw new Refusal(say(words, "tooMany", { most: data.most }));
    return { ...state, set };
  };

  const ends = (told) => (typeof told === "string" ? [told] : told[1] < told[2] ? told : told.slice(0, 1)).map(String);

  /* One pair of a link taken into a state. */
  const taken = (data, words, state, seen, pair) => {
    const [key, text, ...more] = pair.split("="), bad = () => new Refusal(say(words, "badLink", { text: short(pair) }));
    if (text === undefined || more.length || seen.has(key)) throw bad();
    seen.add(key);
    let plain;
    try {
      plain = decodeURIComponent(text);
    } catch {
      throw bad();
    }
    if (key.startsWith(SET)) return withSet(data, words, state, key.slice(SET.length), plain.split("~"));
    return { ...state, [key]: value(data, words, key, plain) };
  };

  /* The state of a link. What of it is wrong is told in sentences, and the rest taken, where there is a
     list for them; else it is thrown. */
  const fromLink = (data, words, hash, refused = null) => {
    let state = { ...data.usual, set: {} };
    const seen = new Set();
    for (const pair of hash.replace(/^#/, "").split("&")) {
      try {
        state = taken(data, words, state, seen, pair);
      } catch (error) {
        if (!refused || !(error instanceof Refusal)) throw error;
        refused.push(error.message);
      }
    }
    return state;
  };

  const toLink = (data, state) => `#${[
    ...Object.keys(data.fields).map((key) => `${key}=${encodeURIComponent(state[key])}`),
    ...Object.entries(state.set).map(([name, told]) => `${SET}${name}=${ends(told).map(encodeURIComponent).join("~")}`),
  ].join("&")}`;

  /* Of how long a prompt and an answer a request is counted; where only the longest context is known, a
     token from its end. */
  const lengths = ({ input, output, set }) => (set.context_only ? { input: input + output - 1, output: 1 } : { input, output });

  /* The names of what users see: of a steady state, and where only a context is known of the burst. */
  const pace = ({ set }) => (set.context_only ? { tpot: "tpot", ttft: "ttft", rate: "output_throughput" }
    : { tpot: "steady_tpot", ttft: "steady_ttft", rate: "steady_throughput" });

  /* Experts that are copied, and ranks that are apart from them, as a state sets it. */
  const spread = ({ set }) => ({ copies: set.redundant_experts?.[0] ?? 0, apart: set.shared_expert_ranks?.[0] ?? 0 });

  /* Why a model takes no requests as long as those of a state, as a sentence; null if it does. */
  const tooLong = (data, words, { model: of, input, output }) => {
    const { name, positions } = data.models[of], grouped = (number) => number.toLocaleString("en-US");
    return input + output > positions ? say(words, "tooLong", { model: name[words.lang],
      tokens: grouped(input + output), positions: grouped(positions) }) : null;
  };

  /* Why a state cannot be laid out, as a sentence; null if it can. */
  const problem = (data, words, state) => {
    const card = data.cards[state.card], model = data.models[state.model], { sizes } = data;
    const name = (entry) => entry.name[words.lang];
    const known = { card: name(card), model: name(model), precision: state.precision, tp: state.tp,
      pp: state.pp, dp: state.dp, ep: state.ep };
    if (!fit.precisions(data, state).includes(state.precision)) return say(words, "noPrecision", known);
    if (!card.engines.includes(state.engine)) {
      return say(words, "noEngine", { ...known, engine: name(data.engines[state.engine]) });
    }
    const long = tooLong(data, words, state);
    if (long) return long;
    if (state.drafts && !model.drafts) return say(words, "noDrafts", known);
    const held = model.indexed ? 1 : Math.max(1, Math.floor(state.tp / model.heads));  // copies of a request's cache
    if (held % state.dcp) return say(words, "sharedCache", { ...known, dcp: state.dcp, copies: held });
    if (state.pp > model.layers) return say(words, "stages", { ...known, layers: model.layers });
    const { copies, apart } = spread(state), { exchange_normal: normal, exchange_gathered: gathered } = state.set;
    if (copies && !model.experts) return say(words, "noExperts", known);
    if (apart && (!model.shared || state.tp > 1 || normal || gathered)) return say(words, "noneApart", { ...known, apart });
    const can = (tp, dp, ep) => ep > apart && (model.routed + copies) % (ep - apart) === 0 && (tp * dp) % ep === 0
      && (ep % tp === 0 || tp % ep === 0) && (ep === 1 || model.experts)
      && Boolean((model.loaded[state.precision][sizes.indexOf(tp)] >> sizes.indexOf(Math.min(tp, ep))) & 1);
    if (can(state.tp, state.dp, state.ep)) return null;
    const list = (allowed) => sizes.filter(allowed).join(words.comma);
    const experts = list((ep) => can(state.tp, state.dp, ep));
    if (experts) return say(words, "experts", { ...known, list: experts });
    return say(words, "tensor", { ...known, list: list((tp) => sizes.some((ep) => can(tp, state.dp, ep))) });
  };

  /* Why an engine does not start a layout: catalogue/deployments/admission.py. */
  const refusals = (card, model, { tp, pp, dp, ep, dcp }, can) => {
    const joined = Math.max(1, Math.floor(ep / tp)), replica = tp * pp, server = replica * joined, { perNode } = card;
    const whole = (large, small) => large % small === 0;
    const fills = server <= perNode ? whole(perNode, server) || dp === joined
      : whole(server, perNode) && (whole(replica, perNode) || whole(perNode, replica));
    return [!fills && "whyServers",
      model.experts && ep > 1 && ep < tp && !can("d") && "whyDivided", joined > 1 && tp > 1 && !can("w") && "whyWide",
      !whole(model.vocabulary, tp) && !can("v") && "whyVocabulary", joined > 1 && replica > perNode && !can("n") && "whySpread",
      dcp > 1 && !can("c") && "whyDealt"].filter(Boolean);
  };

  /* Why no engine that is meant starts the layout of a state, as a sentence; null if one does. */
  const unstarted = (data, words, state) => {
    const card = data.cards[state.card], model = data.models[state.model], known = card.starts[model.cache][state.engine];
    const every = (known.length ? known : [null]).map((one) => refusals(card, model, state, (letter) => one === null || one.includes(letter)));
    if (every.some((why) => why.length === 0)) return null;
    const joined = Math.max(1, Math.floor(state.ep / state.tp));
    return say(words, "notStarted", { engine: data.engines[state.engine].name[words.lang], why: say(words, every[0][0], { ...state,
      cards: state.tp * state.pp * joined, server: card.perNode, replica: state.tp * state.pp, vocabulary: model.vocabulary }) });
  };

  /* Lines of a scenario file for what a state sets in one of its sections. */
  const told = (data, state, section) => Object.entries(state.set)
    .filter(([name]) => data.extras[name].section === section)
    .map(([name, found]) => {
      const { unit } = data.extras[name];
      const [middle, ...range] = ends(found).map((end) => (unit ? `${end} ${unit}` : end));
      return `${name}: ${range.length ? `{value: ${middle}, range: [${range.join(", ")}]}` : middle}`;
    });

  /* A scenario file of a state, as `will-it-fit estimate` and papermill take it. */
  const toYaml = (data, state) => {
    const card = data.cards[state.card], devices = state.tp * state.pp * state.dp;
    const nodes = Math.ceil(devices / card.perNode), apart = state.set.separate_pools;
    const mechanisms = told(data, state, "mechanisms");
    if (apart && !state.set.first_token_held) mechanisms.push(`first_token_held: ${APART["mechanisms.first_token_held"]}`);
    const title = `${devices} × ${card.device}, ${state.model}, ${state.precision}`;
    return [
      "# yaml-language-server: $schema=../schema/scenarios.json",
      `title: {en: "${title}", zh: "${title}"}`,
      `defaults: {source: "${data.source}", kind: assumed}`,
      `model: ${state.model}`, `device: ${card.device}`,
      ...(state.engine === "none" ? [] : [`engine: ${state.engine}`]),
      ...told(data, state, ""),
      "cluster:", `  node: ${card.node}`, `  nodes: ${nodes}`,
      ...(devices === nodes * card.perNode ? [] : [`  devices: ${devices}`]),
      `precision: ${state.precision}`,
      "parallelism:", `  tensor_parallel: ${state.tp}`, `  pipeline_parallel: ${state.pp}`,
      `  data_parallel: ${state.dp}`, `  expert_parallel: ${state.ep}`,
      ...(state.dcp > 1 ? [`  decode_context_parallel: ${state.dcp}`] : []),
      ...told(data, state, "parallelism").map((line) => `  ${line}`),
      "workload:", `  concurrency: ${state.users} request`,
      ...(state.set.context_only ? [`  context_tokens: ${state.input + state.output} token`]
        : [`  input_tokens: ${state.input} token`, `  output_tokens: ${state.output} token`,
          ...(state.vary ? [`  length_distribution: ${VARYING}`, `  length_variation: ${state.vary}`] : [])]),
      ...(state.drafts ? [`  draft_tokens: ${state.drafts}`] : []),
      `  max_num_batched_tokens: ${state.chunk} token`, `  block_size: ${state.block} token`,
      `  memory_utilization: ${state.share / 100}`,
      ...(apart ? [`  stream_interval: ${APART["workload.stream_interval"]}`] : []),
      ...(mechanisms.length ? ["mechanisms:", ...mechanisms.map((line) => `  ${line}`)] : []), "",
    ].join("\n");
  };

  // what a pool sends together, which engines take to be more
  const APART = { "workload.stream_interval": "1 token", "mechanisms.first_token_held": "{value: 0}" };
  const VARYING = "lognormal";  // how lengths vary, where they do
  const ROOTS = { model: "model", device: "card", engine: "engine", precision: "precision" };
  const INSIDE = {
    parallelism: { tensor_parallel: "tp", pipeline_parallel: "pp", data_parallel: "dp", expert_parallel: "ep", decode_context_parallel: "dcp" },
    workload: { concurrency: "users", input_tokens: "input", output_tokens: "output",
      draft_tokens: "drafts", max_num_batched_tokens: "chunk", block_size: "block",
      memory_utilization: "share", length_variation: "vary", length_distribution: null },
    cluster: { node: null, nodes: null, devices: null },
    mechanisms: {},
  };
  const IGNORED = ["title", "defaults", "note"];  // they move no number
  const LINE = /^( {2})?([a-z_][a-z_0-9.]*):(?: +(.*))?$/;
  const RANGED = /^\{value: ([^,{}[\]]+), range: \[([^,{}[\]]+), ([^,{}[\]]+)\]\}$/;

  /* The texts of a quantity and of the ends of its range, without their unit. */
  const quantities = (written, unit) => (RANGED.exec(written)?.slice(1) ?? [written])
    .map((text) => (unit && text.endsWith(` ${unit}`) ? text.slice(0, -unit.length - 1) : unit ? "" : text));

  /* The deployment of a scenario file: of YAML just the form that toYaml writes, anything else is
     refused with its line. No library: a reader of all of YAML would take more than can be shown. */
  const fromYaml = (data, words, text) => {
    if (text.length > MOST_BYTES) throw new Refusal(say(words, "tooLarge"));
    const cluster = {}, seen = new Set();
    let state = { ...data.usual, engine: "none", drafts: 0, vary: 0, ep: 1, dcp: 1, pp: 1, dp: 1, set: {} }, section = null, varies = "constant";
    text.split(/\r?\n/).forEach((line, index) => {
      const at = (key, values = {}) => new Refusal(say(words, key, { ...values, line: index + 1 }));
      if (line.length > MOST_LINE) throw at("badLine", { text: short(line) });
      const bare = line.replace(/(^|\s)#.*$/, "").trimEnd();
      if (!bare) return;
      const found = LINE.exec(bare);
      if (!found) throw at("badLine", { text: short(bare) });
      const [, indent, key, written = ""] = found;
      const path = indent ? `${section}.${key}` : key;
      if (seen.has(path)) throw at("twice", { key });
      seen.add(path);
      if (!indent) section = key;
      if (IGNORED.includes(section)) return;
      const field = indent ? INSIDE[section]?.[key] : ROOTS[key];
      if (!indent && INSIDE[key] && !written) return;
      const extra = Object.hasOwn(data.extras, key) && data.extras[key].section === (indent ? section : "") && data.extras[key];
      const alone = path === "workload.context_tokens";
      if (Object.hasOwn(APART, path) && written === APART[path]) return;
      if (field === undefined && !extra && !alone) throw at("otherKey", { key: short(path) });
      const plain = written.replace(/ (request|token)s?$/, "").replace(/^"([^"\\]*)"$/, "$1");
      try {
        if (alone) {
          state = { ...withSet(data, words, state, "context_only", ["true"]), output: 1,
            input: value(data, words, "input", String(Number(plain) - 1)) };
        } else if (extra) state = withSet(data, words, state, key, extra.of ? [plain] : quantities(written, extra.unit));
        else if (field === null && section === "cluster") cluster[key] = plain;
        else if (field === null) varies = plain;
        else if (field === "share") state.share = value(data, words, field, String(Math.round(Number(plain) * 1e6) / 1e4));
        else state[field] = value(data, words, field, plain);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw at("inLine", { sentence: error.message });
      }
    });
    for (const key of ["model", "device", "precision", "parallelism.tensor_parallel"]) {
      if (!seen.has(key)) throw new Refusal(say(words, "missing", { key }));
    }
    for (const key of Object.keys(INSIDE)) {
      if (seen.has(key) && ![...seen].some((path) => path.startsWith(`${key}.`))) throw new Refusal(say(words, "missing", { key }));
    }
    if (state.set.context_only && (seen.has("workload.input_tokens") || seen.has("workload.output_tokens"))) {
      throw new Refusal(say(words, "bothLengths"));
    }
    if (varies !== (state.vary ? VARYING : "constant")) throw new Refusal(say(words, "otherLengths", { kind: short(varies) }));
    state.card = Object.keys(data.cards).find((name) => data.cards[name].device === state.card && data.cards[name].node === cluster.node) ?? state.card;
    const card = data.cards[state.card], devices = state.tp * state.pp * state.dp;
    const nodes = Math.ceil(devices / card.perNode);
    const stated = Number(cluster.devices ?? cluster.nodes * card.perNode);
    if (cluster.node !== card.node || Number(cluster.nodes) !== nodes || stated !== devices) {
      throw new Refusal(say(words, "otherCluster", { node: card.node, nodes, devices }));
    }
    const { way, price, use, pace: wanted, ...deployment } = state;
    return deployment;
  };

  Object.assign(fit, { Refusal, say, fromLink, toLink, lengths, pace, tooLong, problem, unstarted, toYaml, fromYaml, MOST_BYTES });
})();
