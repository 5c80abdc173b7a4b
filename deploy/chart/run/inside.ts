import { outputOf } from '../../local/program.ts';
import { serviceNames } from '../../local/service-environment.ts';
import { say } from '../../local/settings.ts';
import type { Settings } from '../../local/settings.ts';
import { heldInside, memoryOfPods } from './cluster.ts';
import { podName } from './rollout.ts';
import { portsOf } from './values.ts';
import type { Slot } from './values.ts';

/** Looks into the pods of a slot. @throws Error naming what the chart or the build had promised otherwise. */
export async function lookInside(settings: Settings, slot: Slot): Promise<void> {
  const against: string[] = [];
  for (const name of serviceNames) {
    against.push(...(await heldInside(podName(name, slot))), ...(await commitProblems(settings, name, slot)));
  }
  if (against.length > 0) throw new Error(against.join('\n'));
  say('inside', 'user, capabilities, seccomp, privileges and root are as the chart says, the commit as the image says');
  say('memory', await memoryOfPods(serviceNames.map((name) => podName(name, slot))));
}

/** A process says in its metrics, in twelve digits, which commit it runs: that of the label, modified or not. */
async function commitProblems(settings: Settings, name: string, slot: Slot): Promise<string[]> {
  const label = '{{index .Config.Labels "org.opencontainers.image.revision"}}';
  const commit = await outputOf(['podman', 'inspect', '--format', label, podName(name, slot)]);
  const reply = await fetch(`http://127.0.0.1:${portsOf(settings, name, slot).health}/metrics`);
  const told = /^vision_build_info\{.*\bcommit="([0-9a-f]{12}(?:-modified)?)"/m.exec(await reply.text())?.[1] ?? 'none';
  const [hash = '', ...mark] = commit.split('-');
  return told === [hash.slice(0, 12), ...mark].join('-')
    ? []
    : [`${podName(name, slot)} is of commit ${commit} and says ${told}`];
}
