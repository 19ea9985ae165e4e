/* What a query asks besides its words: which symptoms it describes, which cards it names, and what
   of it says nothing. Names and symptoms come with the index, from params/symptoms.yml. */
"use strict";

const bookAsking = (() => {
  const CARD = "{card}"; // in a symptom any card, in its answers the pages of those named
  const COUNTED = /(\d)\s*[x*×]\s*(?=[a-z]*\d)/gi; // "8xH20": a number of cards, then a card
  const [SYMPTOMS, NEARLY] = [3, 0.5]; // how many answer, if they explain nearly as much
  const WHOLE = 2; // times what a variant counts that a query has all of
  const [MOST, LEAST] = [0.6, 2]; // of a variant, and pieces of it: with fewer it is a guess
  const [FAINT, RARE] = [0.1, 6]; // weight of what says nothing; symptoms that a card counts for
  const TELLING = 2.5; // how rare what both have is, at least, where it is no guess
  const ELSE = 0.3; // of its score what has no part in a fault that the query names
  const WORDS = 3; // a query of so many asks for no word alone; two signs of Han are as good as one
  const LATIN = /^[\p{sc=Latin}\p{sc=Greek}\p{N}]/u;

  /* What finds a word in a text: a Latin one whole, or what it begins with if it is long. */
  const finders = new Map();
  const finder = (word) => {
    if (!finders.has(word)) {
      const sought = word.replace(/(?<=[a-z]{3})(?<!s)s$/, "")
        .replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/[-_ ]/g, "[-_ ]?");
      const begin = /^\d/.test(word) ? "(?<![\\d.])" : "(?<![a-z])"; // "50ms" has "ms"
      const end = /\d$/.test(word) ? "(?![a-z]|\\.?\\d)" : word.length > 3 ? "" : "s?(?![a-z])";
      finders.set(word, RegExp(LATIN.test(word) ? begin + sought + end : sought));
    }
    return finders.get(word);
  };

  /* A text as words, each sign of Han beside Latin a word apart: "910B" is a card, not bytes. */
  const spaced = (text) => ` ${(text.toLowerCase()
    .match(/\p{sc=Han}+|[\p{sc=Latin}\p{N}]+/gu) ?? []).join(" ")} `;

  const make = ({ same, ignored, symptoms, cards, compared, faults }) => {
    const longestFirst = (words) => [...words].sort((a, b) => b.length - a.length);
    const called = cards.flatMap(([names, place]) => (
      names.flatMap((name) => [name, `${name}s`]).map((name) => [spaced(name), place])));
    const pages = new Map();
    for (const [name, place] of called) pages.set(name, [...pages.get(name) ?? [], place]);
    const longest = longestFirst([...pages.keys()]);
    const faint = new Set(Object.values(ignored).flat());
    const nothing = longestFirst([...faint].filter((word) => !ignored.common.includes(word)));

    /* The cards that a text names, each as the places of its pages: "910B" stands for all of them. */
    const cardsIn = (text) => {
      let rest = spaced(text);
      const found = [];
      for (const name of longest) {
        const at = rest.indexOf(name);
        if (at < 0) continue;
        found.push([at, pages.get(name)]);
        rest = rest.replaceAll(name, ` ${"_".repeat(name.length - 2)} `);
      }
      for (const { 0: word, index } of rest.matchAll(/(?<= )[a-z]*\d{3,}[a-z]?(?= )/g)) {
        const next = /\d$/.test(word) ? /[a-z]/ : /\d/; // "910" and "910B", but not "91"
        const family = longest.filter((name) => (
          name.startsWith(` ${word}`) && next.test(name[word.length + 1])));
        if (family.length) found.push([index, family.flatMap((name) => pages.get(name))]);
      }
      return found.sort(([a], [b]) => a - b)
        .map(([, places]) => [...new Set(places)].sort((a, b) => a - b));
    };

    const whole = (word) => (
      RegExp(finder(word).source + (LATIN.test(word) ? "s?(?![a-z0-9])" : ""), "gi"));
    const [every, names, questions] = [nothing, ignored.names, ignored.questions]
      .map((words) => words.map(whole));
    const any = (found, text) => found.some((one) => text.search(one) >= 0);

    /* Every piece of some lists of pieces, with how many of the lists have it. */
    const having = (lists) => {
      const found = new Map();
      for (const piece of lists.flatMap((pieces) => [...new Set(pieces)])) {
        found.set(piece, (found.get(piece) ?? 0) + 1);
      }
      return found;
    };
    const common = having(symptoms.map(([variants]) => variants.flat()));
    const rarity = (piece) => (piece.length === 1 || faint.has(piece) ? FAINT
      : Math.log(symptoms.length / (piece === CARD ? RARE : common.get(piece))));

    /* The pieces that stand in a text, with how many words of theirs; of two synonyms that share
       signs the longer counts: "speculative decoding" is no decoding. */
    const flags = [...common.keys()].filter((piece) => /[-_]/.test(piece));
    const synonyms = longestFirst([...same.flat(), ...flags]);
    const lists = new Map(same.flatMap((words, place) => words.map((word) => [word, place])));
    const standing = (text, named) => {
      const found = new Map([[CARD, named.length]]);
      let left = text;
      for (const word of synonyms.filter((each) => finder(each).test(text))) {
        const rest = left.replace(finder(word), (signs) => "\0".repeat(signs.length));
        const place = lists.get(word);
        if (rest !== left && place >= 0) found.set(place, (found.get(place) ?? 0) + 1);
        left = rest;
      }
      for (const piece of common.keys()) {
        if (typeof piece === "string" && piece !== CARD && finder(piece).test(text)) found.set(piece, 1);
      }
      return found;
    };

    /* Each symptom's pieces, and how usual each is among its variants: the root of how many have
       it, beside the root of how many there are. */
    const usual = symptoms.map(([variants]) => [...having(variants)]
      .map(([piece, n]) => [piece, Math.sqrt(n / Math.sqrt(variants.length))]));

    /* What answers the symptoms that a text describes, by how rare the pieces are that both have:
       of the variant that is most like it, which has at least so many of them, and of all variants
       together. The best answer to each symptom comes before the second to any, so that the first
       results hold the right one where the likeliest symptom is not meant. */
    const described = (text, named, least) => {
      const found = standing(text, named);
      const has = (piece, at, all) => (
        found.get(piece) > all.slice(0, at).filter((one) => one === piece).length);
      const weight = (pieces) => pieces.reduce((sum, piece) => sum + rarity(piece), 0);
      const faulty = faults.filter((piece) => found.has(piece));
      const beside = (pieces) => (
        faulty.length && !pieces.some((piece) => faulty.includes(piece)) ? ELSE : 1);
      const likeness = (pieces) => {
        const own = pieces.filter(has);
        const [whole, told] = [own.length === pieces.length, weight(own)];
        const enough = own.length >= least && (own.length >= LEAST || told > TELLING);
        if (!told || !(whole || enough)) return { score: 0 };
        const share = told / weight(pieces);
        return { score: (whole ? WHOLE : 1) * beside(pieces) * Math.sqrt(share) * told,
          sure: whole || (share >= MOST && own.length >= LEAST && told > TELLING) };
      };
      const scores = symptoms.map(([variants, answers], place) => {
        const like = variants.map(likeness);
        const score = Math.max(...like.map((each) => each.score));
        const together = usual[place].reduce((sum, [piece, share]) => (
          sum + (found.get(piece) ? share * rarity(piece) : 0)), 0);
        return { answers, score: score && score + together, sure: like.some(({ sure }) => sure) };
      }).filter(({ score }) => score).sort((one, other) => other.score - one.score);
      const best = scores.filter(({ score }) => score >= NEARLY * scores[0].score).slice(0, SYMPTOMS);
      const turns = Math.max(0, ...best.map(({ answers }) => answers.length));
      return { guessed: best.length > 0 && !best.some(({ sure }) => sure),
        answers: Array.from({ length: turns }, (_, turn) => (
          best.flatMap(({ answers }) => answers.slice(turn, turn + 1)))).flat() };
    };

    const of = (query) => {
      const text = query.normalize("NFKC").replace(COUNTED, "$1 × ");
      const rest = every.reduce((left, word) => left.replace(word, " "), text);
      const [meaning, question] = [any(names, text), any(questions, text)];
      const latin = text.match(/[\p{sc=Latin}\p{N}][^\s\p{sc=Han}]*/gu) ?? [];
      const han = text.match(/\p{sc=Han}/gu) ?? [];
      const count = latin.length + han.length / 2;
      const long = question || count >= WORDS;
      const named = cardsIn(text);
      const least = count < LEAST || named.length > 1 ? Infinity : long ? 1 : LEAST;
      const symptom = described(text.toLowerCase(), named, least);
      const answers = symptom.answers.flatMap((place) => (
        place === CARD ? named.map(([one]) => one) : [place]));
      // Of several cards: where all stand side by side, what else is asked, and then each.
      const apart = named.length > 1
        ? [...compared, ...answers.slice(0, 1), ...named.map(([place]) => place)] : [];
      return {
        rest: rest.trim() ? rest : text, named: named.flat(), several: named.length > 1,
        answers: [...new Set([...apart, ...answers])],
        guessed: symptom.guessed,
        meaning, // of a name
        long,
      };
    };
    return { of, cardsIn };
  };

  return { make };
})();
