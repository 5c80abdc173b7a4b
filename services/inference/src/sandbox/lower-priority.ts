import { writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { threadsOf } from './processor-time.ts';

/** Gives all threads of a process group this nice value, 1 to 19, unless they have a higher one. */
export function lowerPriority(group: number, niceness: number): void {
  for (const { thread } of threadsOf([group])) {
    try {
      if (getPriority(thread) < niceness) setPriority(thread, niceness);
    } catch {
      // The thread has ended meanwhile.
    }
  }
  lowerSession(group, niceness);
}

/** Outside of containers the kernel may weigh sessions, not processes; where it does not, there is no such file. */
export function lowerSession(leader: number, niceness: number): void {
  try {
    writeFileSync(`/proc/${leader}/autogroup`, String(niceness));
  } catch {
    // It then shares the processor like any other session.
  }
}
