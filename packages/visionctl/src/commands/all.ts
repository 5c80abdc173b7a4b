import type { Command, CommandGroup } from '../command.ts';
import { auditCommand } from './audit.ts';
import { calibrateCommand } from './calibrate.ts';
import { completionCommand } from './completion.ts';
import { doctorCommand } from './doctor.ts';
import { dlqCommands } from './dlq.ts';
import { jobCommands } from './jobs.ts';
import { keyCommands } from './keys.ts';
import { serviceKeyCommands } from './service-keys.ts';
import { bucketCommands, topicCommands } from './setup.ts';
import { limitCommands, usageCommand } from './subjects.ts';
import { breakersCommand, lagCommand, outboxCommands } from './standing.ts';
import { taskCommands } from './tasks.ts';
import { maintenanceCommands, quotaCommands, retentionCommands } from './upkeep.ts';

/** In the order of the help. */
export const groups: CommandGroup[] = [
  taskCommands,
  jobCommands,
  keyCommands,
  limitCommands,
  quotaCommands,
  maintenanceCommands,
  retentionCommands,
  outboxCommands,
  dlqCommands,
  topicCommands,
  bucketCommands,
  serviceKeyCommands,
];

/** Commands of one word. */
export const single: Command[] = [
  doctorCommand,
  breakersCommand,
  lagCommand,
  usageCommand,
  auditCommand,
  calibrateCommand,
  completionCommand(() => ({ groups, single })),
];
