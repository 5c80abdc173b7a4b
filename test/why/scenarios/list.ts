import type { Scenario } from '../scenario.ts';
import { clients } from './clients.ts';
import { creates } from './creates.ts';
import { pictures } from './pictures.ts';
import { reads } from './reads.ts';

export const scenarios: readonly Scenario[] = [...creates, ...pictures, ...reads, ...clients];
