/**
 * Reports contents that jump without anybody having touched the page, where the page's own messages end up. The limit
 * is that of a good page by Core Web Vitals (https://web.dev/articles/cls), here for one shift. The browser itself
 * leaves out what follows an input or a new size of the window within half a second.
 */
export const REPORT_SHIFTS = `new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    if (hadRecentInput || value < 0.1) continue;
    const moved = sources.map(({ node, previousRect: from, currentRect: to }) =>
      (node?.outerHTML ?? node?.textContent ?? '').slice(0, 80) + ' from ' + [from.x, from.y, from.width, from.height] +
      ' to ' + [to.x, to.y, to.width, to.height]);
    console.error('layout shift of ' + value.toFixed(2) + ' on ' + location.hash + ': ' + moved.join(' | '));
  }
}).observe({ type: 'layout-shift', buffered: true });`;
