import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';

interface Memory {
  used: number;
  limit: number;
}

/**
 * Memory of the container as Kubernetes counts it before it evicts or kills: without the part of the page cache that
 * can be dropped. Without a container that has a limit, that of this process and of the machine.
 */
export function readMemory(cgroup = '/sys/fs/cgroup'): Memory {
  try {
    const limit = Number(readFileSync(join(cgroup, 'memory.max'), 'utf8'));
    const current = Number(readFileSync(join(cgroup, 'memory.current'), 'utf8'));
    const inactive = /^inactive_file (\d+)$/m.exec(readFileSync(join(cgroup, 'memory.stat'), 'utf8'))?.[1];
    // "max" is no number: nothing limits it.
    if (Number.isFinite(limit)) return { used: Math.max(0, current - Number(inactive ?? 0)), limit };
  } catch {
    // No container, or cgroups of version 1.
  }
  return { used: process.memoryUsage.rss(), limit: totalmem() };
}
