/* The state of the calculators: what can be chosen, in a link and in a scenario file. Text from
   outside is only compared and counted, never run and never put into a page as markup. */
"use strict";
(() => {
  const fit = (globalThis.willItFit ??= {});
  const MOST_BYTES = 10 * 2 ** 20, MOST_LINE = 1000;
  const NUMBER = /^\d{1,9}(\.\d{1,6})?$/;

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

  const fromLink = (data, words, hash) => {
    const state = { ...data.usual }, seen = new Set();
    for (const pair of hash.replace(/^#/, "").split("&")) {
      const [key, text, ...more] = pair.split("=");
      if (text === undefined || more.length || seen.has(key)) throw new Refusal(say(words, "badLink", { text: short(pair) }));
      seen.add(key);
      let plain;
      try {
        plain = decodeURIComponent(text);
      } catch {
        throw new Refusal(say(words, "badLink", { text: short(pair) }));
      }
      state[key] = value(data, words, key, plain);
    }
    return state;
  };

  const toLink = (data, state) => `#${Object.keys(data.fields)
    .map((key) => `${key}=${encodeURIComponent(state[key])}`).join("&")}`;

  /* Why a state cannot be laid out, as a sentence; null if it can. */
  const problem = (data, words, state) => {
    const card = data.cards[state.card], model = data.models[state.model], { sizes } = data;
    const name = (entry) => entry.name[words.lang];
    const known = { card: name(card), model: name(model), precision: state.precision, tp: state.tp,
      pp: state.pp, dp: state.dp, ep: state.ep };
    if (!card.precisions.includes(state.precision)) return say(words, "noPrecision", known);
    if (!card.engines.includes(state.engine)) {
      return say(words, "noEngine", { ...known, engine: name(data.engines[state.engine]) });
    }
    if (state.drafts && !model.drafts) return say(words, "noDrafts", known);
    if (state.pp > model.layers) return say(words, "stages", { ...known, layers: model.layers });
    const can = (tp, dp, ep) => Boolean(
      (model.divided[sizes.indexOf(tp)][sizes.indexOf(dp)] >> sizes.indexOf(ep))
      & (model.loaded[state.precision][sizes.indexOf(tp)] >> sizes.indexOf(ep)) & 1);
    if (can(state.tp, state.dp, state.ep)) return null;
    const list = (allowed) => sizes.filter(allowed).join(words.comma);
    const experts = list((ep) => can(state.tp, state.dp, ep));
    if (experts) return say(words, "experts", { ...known, list: experts });
    return say(words, "tensor", { ...known, list: list((tp) => sizes.some((ep) => can(tp, state.dp, ep))) });
  };

  /* A scenario file of a state, as `python -m calc estimate` and papermill take it. */
  const toYaml = (data, state) => {
    const card = data.cards[state.card], devices = state.tp * state.pp * state.dp;
    const nodes = Math.ceil(devices / card.perNode);
    const title = `${devices} × ${state.card}, ${state.model}, ${state.precision}`;
    return [
      "# yaml-language-server: $schema=../schema/scenarios.json",
      `title: {en: "${title}", zh: "${title}"}`,
      `defaults: {source: "${data.source}", kind: assumed}`,
      `model: ${state.model}`, `device: ${state.card}`,
      ...(state.engine === "none" ? [] : [`engine: ${state.engine}`]),
      "cluster:", `  node: ${card.node}`, `  nodes: ${nodes}`,
      ...(devices === nodes * card.perNode ? [] : [`  devices: ${devices}`]),
      `precision: ${state.precision}`,
      "parallelism:", `  tensor_parallel: ${state.tp}`, `  pipeline_parallel: ${state.pp}`,
      `  data_parallel: ${state.dp}`, `  expert_parallel: ${state.ep}`,
      "workload:", `  concurrency: ${state.users} request`, `  input_tokens: ${state.input} token`,
      `  output_tokens: ${state.output} token`,
      ...(state.drafts ? [`  draft_tokens: ${state.drafts}`] : []),
      `  max_num_batched_tokens: ${state.chunk} token`, `  block_size: ${state.block} token`,
      `  memory_utilization: ${state.share / 100}`, "",
    ].join("\n");
  };

  const ROOTS = { model: "model", device: "card", engine: "engine", precision: "precision" };
  const INSIDE = {
    parallelism: { tensor_parallel: "tp", pipeline_parallel: "pp", data_parallel: "dp", expert_parallel: "ep" },
    workload: { concurrency: "users", input_tokens: "input", output_tokens: "output",
      draft_tokens: "drafts", max_num_batched_tokens: "chunk", block_size: "block",
      memory_utilization: "share" },
    cluster: { node: null, nodes: null, devices: null },
  };
  const IGNORED = ["title", "defaults", "note"];  // they move no number
  const LINE = /^( {2})?([a-z_]+):(?: +(.*))?$/;

  /* The deployment of a scenario file: of YAML just the form that toYaml writes, anything else is
     refused with its line. No library: a reader of all of YAML would take more than can be shown. */
  const fromYaml = (data, words, text) => {
    if (text.length > MOST_BYTES) throw new Refusal(say(words, "tooLarge"));
    const state = { ...data.usual, engine: "none", drafts: 0, ep: 1, pp: 1, dp: 1 }, cluster = {}, seen = new Set();
    let section = null;
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
      if (field === undefined) throw at("otherKey", { key: short(path) });
      const plain = written.replace(/ (request|token)s?$/, "").replace(/^"([^"\\]*)"$/, "$1");
      try {
        if (field === null) cluster[key] = plain;
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
    const card = data.cards[state.card], devices = state.tp * state.pp * state.dp;
    const nodes = Math.ceil(devices / card.perNode);
    const stated = Number(cluster.devices ?? cluster.nodes * card.perNode);
    if (cluster.node !== card.node || Number(cluster.nodes) !== nodes || stated !== devices) {
      throw new Refusal(say(words, "otherCluster", { node: card.node, nodes, devices }));
    }
    const { way, price, use, ...told } = state;  // no deployment's
    return told;
  };

  Object.assign(fit, { Refusal, say, fromLink, toLink, problem, toYaml, fromYaml, MOST_BYTES });
})();
