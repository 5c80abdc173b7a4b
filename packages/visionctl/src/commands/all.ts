import type { Command } from '../command.ts';
import { dlqCommands } from './dlq.ts';
import { keyCommands } from './keys.ts';
import { serviceKeyCommands } from './service-keys.ts';
import { setupCommands } from './setup.ts';
import { subjectCommands } from './subjects.ts';
import { taskCommands } from './tasks.ts';
import { upkeepCommands } from './upkeep.ts';

export const commands: Command[] = [
  ...keyCommands,
  ...subjectCommands,
  ...upkeepCommands,
  ...taskCommands,
  ...dlqCommands,
  ...setupCommands,
  ...serviceKeyCommands,
];
