/** A page that changes by itself has given the focus a new place by then, as a new page does. */
const PATIENCE_MS = 50;

/**
 * Keeps the focus near where it was when the element that had it goes: a viewer without a mouse would begin at the top
 * again. It goes to the innermost part of the page around that element which is still there.
 */
export function keepFocus(page: Document): void {
  let around: Element[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restore = () => {
    timer = undefined;
    if (page.activeElement !== page.body || around[0]?.isConnected === true) return;
    const next = around.find((one) => one.isConnected);
    if (!(next instanceof HTMLElement)) return;
    if (!next.hasAttribute('tabindex')) next.tabIndex = -1;
    next.focus({ preventScroll: true });
  };
  // A press beside everything takes the focus away, and means to.
  page.addEventListener('pointerdown', () => (around = []));
  page.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) around = [target, ...partsAround(target)];
  });
  new MutationObserver(() => {
    if (around.length > 0 && page.activeElement === page.body) timer ??= setTimeout(restore, PATIENCE_MS);
  }).observe(page.body, { childList: true, subtree: true });
}

function partsAround(element: Element): Element[] {
  const part = element.parentElement?.closest('section, form, li, tr, main');
  return part ? [part, ...partsAround(part)] : [];
}
