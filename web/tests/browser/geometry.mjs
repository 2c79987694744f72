// Whether a page is laid out as it should be, whatever its fonts: nothing is cut off, no text covers another, nothing is wider
// than the window. Each function returns what is wrong, one line each.

export const WIDTHS = [360, 1280, 1920];
export const SCHEMES = ["light", "dark"];

/** What is wrong with the layout of what is shown. Runs in the page. */
export const geometry = (page) => page.evaluate(inPage);

function inPage() {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth - innerWidth} px wider than the window: ${widest()}`);
  const texts = shownTexts();
  for (const it of texts) {
    const why = cut(it);
    if (why) found.push(`"${it.text}" ${why}`);
  }
  found.push(...covered(texts));
  return found;

  function widest() {
    const far = [...document.querySelectorAll("main *, header *")].filter((it) => it.getBoundingClientRect().right > innerWidth + 0.5);
    return far.slice(0, 3).map((it) => `${it.tagName.toLowerCase()}#${it.id}.${it.getAttribute("class") ?? ""}`).join(", ");
  }

  /** Lines of text that a person sees, and what they stand in. */
  function shownTexts() {
    const all = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.textContent.trim() || element.closest("script, noscript, title, option, .hidden, [hidden], [aria-hidden=true]")) continue;
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) if (box.width > 0.5 && box.height > 0.5 && !scrolledOut(element, box)) all.push({ element, box, text: node.textContent.trim().slice(0, 40) });
    }
    return all;
  }

  /** Boxes that scroll downwards show a part of what they hold. */
  function scrolledOut(element, box) {
    for (let it = element.parentElement; it && it !== document.body; it = it.parentElement) {
      const style = getComputedStyle(it);
      if (!/auto|scroll/.test(style.overflowY)) continue;
      const frame = it.getBoundingClientRect();
      if (box.bottom > frame.bottom || box.top < frame.top) return true;
    }
    return false;
  }

  /** Why a text cannot be read in full; what ends in an ellipsis says the rest in its title. */
  function cut({ element, box }) {
    const svg = element.closest("svg");
    if (svg) {
      const frame = svg.getBoundingClientRect();
      return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1 ? "is cut off at the edge of its picture" : null;
    }
    for (let it = element; it && it !== document.body; it = it.parentElement) {
      const style = getComputedStyle(it);
      const frame = it.getBoundingClientRect();
      const out = box.right > frame.right + 1 || box.left < frame.left - 1;
      if (out && style.overflowX !== "visible") {
        if (style.textOverflow === "ellipsis") return it.title || it.closest("[title]") ? null : "ends in an ellipsis, and no title has the rest";
        // Tabs may be more than fit beside each other on a phone.
        if (it.getAttribute("role") === "tablist") return null;
        return /auto|scroll/.test(style.overflowX) ? `takes scrolling sideways in ${it.getAttribute("aria-label") ?? it.className}` : `is cut off in ${it.tagName.toLowerCase()}.${it.className}`;
      }
      if (it.matches("section") && out) return "leaves its section";
      if (style.position === "fixed") return null;
    }
    return null;
  }

  /** What lies on another layer covers what is below on purpose: dialogs, sheets, lists of completions, heads of tables. */
  function layer(element) {
    for (let it = element; it && it !== document.body; it = it.parentElement) if (/fixed|absolute|sticky/.test(getComputedStyle(it).position) || it.matches("dialog")) return it;
    return document.body;
  }

  function covered(texts) {
    const all = texts.map((it) => ({ ...it, layer: layer(it.element) })).sort((a, b) => a.box.top - b.box.top);
    const said = [];
    for (const [at, a] of all.entries())
      for (let next = at + 1; next < all.length && all[next].box.top < a.box.bottom; next += 1) {
        const b = all[next];
        const deep = Math.min(a.box.bottom, b.box.bottom) - b.box.top;
        const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        // Lines of text touch: their boxes have room above and below the letters.
        if (a.layer === b.layer && a.element !== b.element && wide > 1 && deep > 0.35 * Math.min(a.box.height, b.box.height)) said.push(`"${a.text}" and "${b.text}" cover each other`);
      }
    return said;
  }
}
