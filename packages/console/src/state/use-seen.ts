import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

const onSeen = new WeakMap<Element, () => void>();
/** One for all elements of the page. A margin lets what comes next load before it is scrolled to. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) onSeen.get(target)?.();
  },
  { rootMargin: '200px' },
);

/** Whether an element has been near the part of the page that the viewer sees. */
export function useSeen(ref: RefObject<Element | null>): boolean {
  const isSeen = useSignal(false);
  useEffect(() => {
    const element = ref.current;
    if (!element || isSeen.peek()) return undefined;
    const end = () => {
      observer.unobserve(element);
      onSeen.delete(element);
    };
    onSeen.set(element, () => {
      isSeen.value = true;
      end();
    });
    observer.observe(element);
    return end;
  }, []);
  return isSeen.value;
}
