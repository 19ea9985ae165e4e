/* How a number is written for people; as catalogue/reading/units.py, which says why. A test holds both
   to the same text. */
"use strict";
(() => {
  const fit = (globalThis.willItFit ??= {});
  const NONE = "–", MINUS = "−", DIGITS = 3, MORE = 4, GROUP = 1000, SMALLEST = 1e-4, LARGEST = 1e15, WHOLE = 1e9, FROM = 1e6;
  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const SCALES = {
    B: [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12], ["PB", 1e15]],
    "B/token": [["B/token", 1], ["MB/token", 1e6]],
    "B/s": [["B/s", 1], ["kB/s", 1e3], ["MB/s", 1e6], ["GB/s", 1e9], ["TB/s", 1e12]],
    FLOP: [["FLOP", 1], ["GFLOP", 1e9], ["TFLOP", 1e12]],
    "FLOP/s": [["FLOP/s", 1], ["GFLOPS", 1e9], ["TFLOPS", 1e12]],
    s: [["ns", 1e-9], ["µs", 1e-6], ["ms", 1e-3], ["s", 1]],
    W: [["W", 1], ["kW", 1e3], ["MW", 1e6]], J: [["J", 1], ["kJ", 1e3], ["MJ", 1e6]],
  };
  const WORDS = {
    en: [[" million", 1e6], [" billion", 1e9], [" trillion", 1e12]],
    zh: [[" 万", 1e4], [" 亿", 1e8], [" 万亿", 1e12]],
  };
  const MONEY = { USD: "美元", CNY: "元" };
  const COUNTS = { request: "个请求", block: "个块" };
  const COUNTING = ["token", "request", "block"];
  const COUNTED = ["1", ...COUNTING, "B/token", "token/request"];

  /* A number as it is written shortest: digits without zeros at either end, and the power of ten of the last. */
  const decimal = (value) => {
    const [number, power = "0"] = Math.abs(value).toString().split("e"), [whole, part = ""] = number.split(".");
    const kept = (whole + part).replace(/^0+(?=\d)/, "");
    return { digits: BigInt(kept), power: Number(power) - part.length };
  };
  const sign = (value) => (value < 0 ? -1 : 1);

  /* A whole number of tens to a power, nearest to a number; halves are rounded away from zero. */
  const steps = (value, power) => {
    const { digits, power: last } = decimal(value);
    if (last >= power) return digits * 10n ** BigInt(last - power);
    const step = 10n ** BigInt(power - last);
    return (2n * digits + step) / (2n * step);
  };

  const rounded = (value, digits) => {
    if (!value || !Number.isFinite(value)) return value;
    const kept = digits ?? (Math.abs(rounded(value, DIGITS)) < GROUP ? DIGITS : MORE);
    const { digits: whole, power } = decimal(value), last = whole.toString().length + power - kept;
    return sign(value) * Number(`${steps(value, last)}e${last}`);
  };

  const fixed = (value, decimals) => {
    const whole = steps(value, -decimals), text = whole.toString().padStart(decimals + 1, "0");
    const left = text.slice(0, text.length - decimals).replace(/\B(?=(\d{3})+$)/g, ",");
    return (value < 0 && whole ? MINUS : "") + left + (decimals ? `.${text.slice(-decimals)}` : "");
  };

  const powerOfTen = (value, digits) => {
    const power = Math.floor(Math.log10(Math.abs(rounded(value, digits))));
    const raised = [...String(power)].map((sign) => (sign === "-" ? "⁻" : RAISED[sign])).join("");
    return `${fixed(value / 10 ** power, digits - 1)}×10${raised}`;
  };

  /* A number without a unit, with three or four digits that count unless told. */
  const plain = (value, digits) => {
    if (Number.isNaN(value)) return NONE;
    if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
    const number = rounded(value, digits), size = Math.abs(number);
    if (number && !(size >= SMALLEST && size < LARGEST)) return powerOfTen(number, digits ?? DIGITS);
    let { digits: kept, power } = decimal(number);
    while (kept && kept % 10n === 0n) [kept, power] = [kept / 10n, power + 1];
    return fixed(number, kept ? Math.max(0, -power) : 0);
  };

  const written = (value, factor, unit, digits) => {
    if (factor === 1 && COUNTED.includes(unit) && Math.abs(value) < WHOLE && Number.isInteger(value)) return fixed(value, 0);
    return plain(value / factor, digits ?? (unit in SCALES || factor === 1 ? undefined : DIGITS));
  };

  const named = (unit, language, value) => {
    if (COUNTING.includes(unit)) return language === "zh" ? COUNTS[unit] ?? unit : unit + (Math.abs(value) === 1 ? "" : "s");
    const [first, ...rest] = unit.split("/");
    return [language === "zh" ? MONEY[first] ?? first : first, ...rest].join("/");
  };

  const last = (scales, size) => scales.filter(([, factor]) => size >= factor).at(-1);

  const scaled = (value, unit, language) => {
    const size = Number.isFinite(value) ? Math.abs(rounded(value)) : 0, scales = SCALES[unit];
    if (scales) {
      if (!size) return [` ${unit}`, 1];
      const [name, factor] = last(scales, size) ?? scales[0];
      return [` ${name}`, factor];
    }
    const whole = COUNTED.includes(unit) && size < WHOLE && Number.isInteger(value);
    const [word, factor] = (!whole && size >= FROM && last(WORDS[language], size)) || ["", 1];
    const name = unit === "1" ? "" : named(unit, language, value);
    const gap = !name || (word && language === "zh" && name.codePointAt(0) > 127) ? "" : " ";
    return [`${word}${gap}${name}`, factor];
  };

  /* A number with a readable unit. */
  const human = (value, unit = "1", language = "en", digits = undefined) => {
    if (value === null || Number.isNaN(value)) return NONE;
    const [name, factor] = scaled(value, unit, language);
    return written(value, factor, unit, digits) + name;
  };

  /* An interval, both ends in the unit of the larger, or of the number whose interval it is. */
  const span = (low, high, unit = "1", language = "en", of = 0) => {
    const [name, factor] = scaled(of || (Math.abs(high) > Math.abs(low) ? high : low), unit, language);
    const between = low >= 0 ? NONE : language === "en" ? " to " : " ～ ";
    return [low, high].map((end) => written(end, factor, unit)).join(between) + name;
  };

  Object.assign(fit, { human, span, plain });
})();
