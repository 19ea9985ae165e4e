/* <formula-sliders name="…">: the letters of one formula as sliders; its function is generated. */
"use strict";
(() => {
  const { names, programs } = globalThis.willItFit.formulas;
  const PLACES = 1000, DIGITS = 4;

  const shown = (value) => globalThis.willItFit.plain(value, DIGITS);

  customElements.define("formula-sliders", class extends HTMLElement {
    connectedCallback() {
      const slot = names.indexOf(this.getAttribute("name"));
      const found = programs[this.getAttribute("attention")]?.find(([place]) => place === slot);
      if (!found) return;
      const v = new Float64Array(names.length), result = this.querySelector(".answer output");
      for (const input of this.querySelectorAll("input")) {
        const { symbol, value, low, high, whole } = input.dataset, place = names.indexOf(symbol);
        v[place] = Number(value);
        if (input.type !== "range") continue;
        const ratio = Number(high) / Number(low), said = input.closest("label").querySelector("output");
        input.value = PLACES * Math.log(Number(value) / Number(low)) / Math.log(ratio);
        input.addEventListener("input", () => {
          const number = Number(low) * ratio ** (Number(input.value) / PLACES);
          v[place] = whole === undefined ? number : Math.round(number);
          said.textContent = shown(v[place]);
          input.setAttribute("aria-valuetext", said.textContent);
          result.textContent = shown(found[1](v));
        });
      }
    }
  });
})();
