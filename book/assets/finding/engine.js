/* Finds documents of the book. MiniSearch 7.2.0 from npm (vendor/minisearch) keeps the index and
   ranks by words; here stand what a word is, which words mean the same, and what goes first. */
"use strict";

const bookEngine = (() => {
  const RUN = /\p{sc=Han}+|[\p{sc=Latin}\p{sc=Greek}\p{N}]+(?:[-_.,:/'’][\p{sc=Latin}\p{sc=Greek}\p{N}]+)*/gu;
  const HAN = /^\p{sc=Han}/u;
  const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
  const MEASURED = /^(\d+(?:\.\d+)?)([kmgt]i?b|b|m?s|us|k?w|[tp]?flops|t?ops)$/;
  const UNSTEMMED = /(?:ss|us|is)$/;
  const FIELDS = ["names", "title", "heading", "text", "rows"];
  const BOOST = { names: 4, title: 1.5, heading: 5, text: 1, rows: 0.4 };
  const CALLED = 6; // times its score for what is called as the query
  const PHRASE = { title: 1.5, heading: 2, text: 1.4 }; // where the query stands as it is
  const ENOUGH = 3; // results that have all words; with fewer, those that have some follow
  const PART = 0.2; // weight of a word by itself among them
  const ALONE = new Set(["term", "letter"]); // what answers a word, not a question
  const [NEAREST, ALIKE] = [3, 0.3]; // so many names, so alike, are offered where nothing is found
  const STARTS = ["chapters/calculators.html", "chapters/monitoring.html"]; // and pages
  const MOST = 200; // documents that are looked at for the query as a phrase

  const stem = (word) =>
    /^[a-z]{4,}s$/.test(word) && !UNSTEMMED.test(word) ? word.slice(0, -1) : word;

  /* A run of letters as alternatives, each a list of words: "max-model-len" is found as one word
     or as three, "96GB" as number and unit, "张量并行" by its pairs of characters. */
  const readings = (run) => {
    const word = run.normalize("NFKC").toLowerCase();
    if (HAN.test(word)) {
      if (word.length === 1) return [[word]];
      return [[...word].slice(1).map((sign, i) => [...word][i] + sign)];
    }
    if (GROUPED.test(word)) return [[word.replaceAll(",", "")]];
    const parts = word.split(/[-_,:/'’]/).flatMap((part) => {
      const found = MEASURED.exec(part);
      return found ? [found[1], found[2]] : [stem(part)];
    });
    return parts.length > 1 ? [[word.replace(/[-_,:/'’]/g, "")], parts] : [parts];
  };

  const runs = (text) => [...text.matchAll(RUN)];
  const words = (text) => runs(text).flatMap(([run]) => readings(run).flat());
  const flat = (text) => runs(text).map(([run]) => readings(run).at(-1).join(" ")).join(" ");

  const whole = new Set(); // words that begin no other: "H20" is not "H200"
  const leaf = (word, boost) => {
    const latin = /^[\p{sc=Latin}\p{sc=Greek}]/u.test(word);
    return {
      queries: [word],
      boost: Object.fromEntries(FIELDS.map((field) => [field, BOOST[field] * boost])),
      prefix: (latin && word.length > 2 && !whole.has(word)) || (HAN.test(word) && word.length === 1),
      fuzzy: latin && word.length > 6 && /^[a-z]+$/.test(word) ? 1 : false,
    };
  };
  const all = (queries) => ({ queries, combineWith: "AND" });
  const any = (queries) => ({ queries, combineWith: "OR" });
  const branch = (text, boost = 1) => runs(text).map(([run]) => {
    const found = readings(run).map((list) => all(list.map((word) => leaf(word, boost))));
    return found.length > 1 ? any(found) : found[0];
  });

  /* How alike two words are: the share of pairs of signs that they have in common. */
  const pairs = (text) => new Set([...text].slice(1).map((sign, i) => [...text][i] + sign));
  const alike = (one, other) => {
    const [a, b] = [pairs(one), pairs(other)];
    return 2 * [...a].filter((pair) => b.has(pair)).length / (a.size + b.size || 1);
  };

  const make = async ({ documents, aliases, ...asked }) => {
    const index = new MiniSearch({
      fields: FIELDS, tokenize: words, processTerm: (word) => word,
      extractField: (document, field) => document[field],
    });
    const entries = documents.map(
      ([kind, address, weight, title, heading, names, text, rows], id) => (
        { id, kind, address, weight, title, heading, names: names.join(" \n "), text, rows,
          called: names.map(flat), flatTitle: flat(title), flatHeading: flat(heading) }));
    await index.addAllAsync(entries, { chunkSize: 150 }); // the page stays at hand meanwhile
    // Longest first: "expert tensor parallelism" before "tensor parallelism".
    const known = aliases
      .flatMap((names) => names.map((name) => ({ name: name.toLowerCase(), names })))
      .sort((a, b) => b.name.length - a.name.length);

    /* The query in parts: what is a term in either language, and the rest. */
    const parts = (query) => {
      const lower = query.toLowerCase();
      for (const { name, names } of known) {
        const at = lower.indexOf(name);
        const end = at + name.length;
        const letter = /[\p{sc=Latin}\p{N}]/u;
        if (at < 0 || (letter.test(name[0]) && letter.test(lower[at - 1] ?? ""))
          || (letter.test(name.at(-1)) && letter.test((lower[end] ?? "").replace("s", "")))) continue;
        return [...parts(query.slice(0, at)), { text: query.slice(at, end), names },
          ...parts(query.slice(end))];
      }
      return query.trim() ? [{ text: query, names: [] }] : [];
    };

    const asking = bookAsking.make(asked);
    asked.cards.flatMap(([names]) => names.flatMap(words)).forEach((word) => whole.add(word));
    const plans = entries.filter(({ kind }) => kind === "deployment").flatMap(({ id, names }) => (
      names.split(" \n ").filter((name) => /^[^×]+ [^×]+$/.test(name))
        .map((name) => [flat(name), id])));
    const branches = (text) => parts(text).flatMap(({ text: own, names }) => {
      if (!names.length) return branch(own);
      const others = names.filter((name) => name.toLowerCase() !== own.toLowerCase());
      return [any([all(branch(own)), ...others.map((name) => all(branch(name, 0.6)))])];
    });

    /* What has some of the words: the more of them, and the rarer, the further in front. */
    const some = (text, tree, options) => {
      const found = index.search(any([...tree, ...words(text).map((word) => leaf(word, PART))]),
        options);
      const units = parts(text).flatMap(({ text: own, names }) => (names.length
        ? [new Set([own, ...names].flatMap(words))] : words(own).map((word) => new Set([word]))));
      const has = found.map(({ queryTerms }) => (
        units.map((unit) => queryTerms.some((word) => unit.has(word)))));
      const rarity = units.map((_, i) => (
        Math.log(1 + entries.length / (1 + has.filter((own) => own[i]).length))));
      const total = rarity.reduce((sum, each) => sum + each, 0);
      return found.map((hit, at) => ({ ...hit, score: hit.score
        * (rarity.reduce((sum, each, i) => sum + (has[at][i] && each), 0) / total) ** 2 }))
        .sort((a, b) => b.score - a.score);
    };

    /* A page on other cards than those asked about; beside two cards, also one on a third. */
    const elsewhere = (entry, { named, several }) => {
      if (!named.length) return false;
      entry.cards ??= asking.cardsIn(`${entry.title} ${entry.heading}`).flat();
      const own = entry.cards.filter((place) => named.includes(place)).length;
      return several ? own < entry.cards.length : entry.cards.length > 0 && !own;
    };

    /* Where nothing is found: the names that are most like the query, and pages to start from. */
    const near = (query) => {
      const sought = flat(query);
      const likeness = (entry) => Math.max(0, ...entry.called.map((name) => alike(name, sought)));
      const names = entries.map((entry) => [likeness(entry), entry]).filter(([like]) => like > ALIKE)
        .sort(([a], [b]) => b - a).slice(0, NEAREST).map(([, entry]) => entry);
      return [...names, ...STARTS.map((start) => entries.find(({ address }) => address === start))]
        .filter(Boolean).map((entry) => ({ ...entry, terms: new Set() }));
    };

    const find = (query) => {
      const ask = asking.of(query);
      const tree = branches(ask.rest);
      const options = { boostDocument: (id) => entries[id].weight };
      const found = tree.length ? index.search(all(tree), options) : [];
      const complete = found.length;
      if (complete < ENOUGH && tree.length) { // then also what has some of the words
        const seen = new Set(found.map(({ id }) => id));
        found.push(...some(ask.rest, tree, options).filter(({ id }) => !seen.has(id)));
      }
      const one = parts(ask.rest);
      const own = ask.meaning || !ask.long ? [flat(ask.rest)] : [];
      const phrases = [...new Set([flat(query), ...own,
        ...(own.length && one.length === 1 ? one[0].names.map(flat) : [])])].filter(Boolean);
      const hits = found.slice(0, MOST).map(({ id, score, terms }, place) => {
        const entry = entries[id];
        const called = phrases.some((phrase) => entry.called.includes(phrase));
        let factor = called ? CALLED : 1;
        for (const [field, text] of [["title", entry.flatTitle], ["heading", entry.flatHeading],
          ["text", flat(entry.text)]]) {
          if (phrases.some((phrase) => ` ${text} `.includes(` ${phrase} `))) factor *= PHRASE[field];
        }
        const behind = elsewhere(entry, ask) ? 2 : ask.long && ALONE.has(entry.kind) && !called;
        return { ...entry, whole: place < complete, behind: Number(behind), score: score * factor,
          terms: new Set(terms) };
      });
      hits.sort((a, b) => a.behind - b.behind || b.whole - a.whole || b.score - a.score);
      const told = plans.filter(([name]) => ` ${phrases[0]} `.includes(` ${name} `))
        .slice(0, ENOUGH).map(([, id]) => id);
      const name = entries.some(({ called }) => called.includes(phrases[0])
        || (ask.meaning && called.includes(flat(ask.rest))));
      const usable = ask.guessed && complete ? []
        : ask.answers.filter((id) => !elsewhere(entries[id], ask));
      const first = name ? [] : [...new Set([...told, ...usable])];
      const answers = first.map((id) => hits.find((hit) => hit.id === id)
        ?? { ...entries[id], terms: new Set(words(ask.rest)) });
      const every = [...answers, ...hits.filter(({ id }) => !first.includes(id))];
      return { complete: complete || (ask.guessed ? 0 : first.length), hits: every,
        near: every.length ? [] : near(query) };
    };
    return { find };
  };

  /* Where the words that were found stand in a text: pairs of begin and end. */
  const marks = (text, terms) => {
    const found = [];
    for (const run of runs(text)) {
      if (HAN.test(run[0])) {
        for (let i = 0; i < Math.max(1, run[0].length - 1); i += 1) {
          if (!terms.has(run[0].slice(i, i + 2))) continue;
          const [begin, end] = [run.index + i, Math.min(run.index + i + 2, run.index + run[0].length)];
          if (found.at(-1)?.[1] >= begin) found.at(-1)[1] = end;
          else found.push([begin, end]);
        }
      } else if (readings(run[0]).flat().some((word) => terms.has(word))) {
        found.push([run.index, run.index + run[0].length]);
      }
    }
    return found;
  };

  return { make, marks };
})();
