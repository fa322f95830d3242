import { byID, put } from "./dom.js";

/** The seller's choice whether the portal sends a message when the turn is near. Not every page has it. */
export class Reach {
  /** act sends a press, see press.js. */
  constructor({ actions, words, act }) {
    const form = document.getElementById("reach-form");
    if (!form) return;
    const draw = (wants) => {
      form.elements.wants.value = String(!wants);
      put(byID("reach-state"), wants ? words.turned_on : words.turned_off);
      const button = byID("reach");
      put(button, wants ? button.dataset.on : button.dataset.off);
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const wants = form.elements.wants.value === "true";
      act("reach", () => actions.reach(wants), { take: () => draw(wants) });
    });
  }
}
