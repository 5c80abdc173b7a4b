import { publicOperations } from './public-operations.ts';
import type { Owner } from './public-operations.ts';

/** Services that are called with a service token. */
export const callees = ['tasks', 'images', 'results', 'quota', 'notify', 'inference'] as const;
/** Services that call others, so each has a signing key. */
export const callers = ['gateway', 'tasks', 'images', 'results'] as const;

export type Callee = (typeof callees)[number];
export type CallingService = (typeof callers)[number];

/** The operations of the public API that this service answers. */
const publicOf = (service: Owner) =>
  publicOperations.filter(({ owner }) => owner === service).map(({ operation }) => operation);

/** What a service asks of the ledger that charges for its work. */
const callsOfChargers = [
  'reserve',
  'settle',
  'refund',
  'getSubjectUsage',
  'claimOpenReservations',
  'findOpenReservations',
  'pingQuota',
];

/**
 * Who may call what: for each service its operations, by the service that calls. A call that is not listed is refused,
 * so an attacker in one service can make only the calls of that service.
 */
export const allowedCalls: Record<Callee, Partial<Record<CallingService, readonly string[]>>> = {
  tasks: {
    gateway: [
      ...publicOf('tasks'),
      'listInternalTasks',
      'verifyInternalTask',
      'runTaskRetention',
      'decideTaskBucket',
      'listTaskDifferences',
      'stopInternalTask',
      'listBackendJobs',
      'listJobsOfBackend',
      'stopJobOfBackend',
      'runTaskAudits',
      'scanVideos',
      'getTaskHistory',
      'getTasksStatus',
      'listBackendStatus',
      'republishTaskEvents',
      'listTaskDeadLetters',
      'showTaskDeadLetter',
      'replayTaskDeadLetters',
    ],
    results: ['getInternalTask', 'findKnownTasks', 'pingTasks'],
  },
  images: {
    gateway: [
      ...publicOf('images'),
      'runImageRetention',
      'decideImageBucket',
      'runImageAudits',
      'scanPictures',
      'listImageDifferences',
      'getImageCallHistory',
      'getImagesStatus',
      'republishImageEvents',
      'listImageDeadLetters',
      'showImageDeadLetter',
      'replayImageDeadLetters',
    ],
    tasks: ['getImageCall', 'deleteImageCalls', 'pingImages'],
    results: ['getImageCall', 'pingImages'],
  },
  results: {
    gateway: [
      ...publicOf('results'),
      'runResultRetention',
      'decideResultBucket',
      'runResultAudits',
      'scanSegments',
      'listResultDifferences',
      'getFrameHistory',
      'getResultsStatus',
      'republishResultEvents',
      'listResultDeadLetters',
      'showResultDeadLetter',
      'replayResultDeadLetters',
    ],
    tasks: ['getStoredFrames', 'countFramesOfTasks', 'deleteResults', 'pingResults'],
  },
  quota: {
    gateway: [
      ...publicOf('quota'),
      'getSubjectUsage',
      'verifyLedger',
      'repairCounter',
      'endReservation',
      'runQuotaAudits',
      'runLedgerRetention',
      'listQuotaDifferences',
      'getReservationHistory',
      'getQuotaStatus',
    ],
    tasks: callsOfChargers,
    images: callsOfChargers,
  },
  notify: {
    gateway: [
      ...publicOf('notify'),
      'republishRuleEvents',
      'listWebhookKeys',
      'endWebhookKeys',
      'runEventRetention',
      'getNotifyStatus',
    ],
  },
  inference: {
    tasks: [
      'submitJob',
      'listJobs',
      'listActiveJobs',
      'stopJob',
      'getCapacity',
      'probeStream',
      'getJobSnapshot',
      'listJobDifferences',
      'getBackendStatus',
    ],
    images: ['detectImage'],
  },
};

/** Whether this service may call this operation. */
export function mayCall(caller: CallingService, callee: Callee, operation: string): boolean {
  return allowedCalls[callee][caller]?.includes(operation) ?? false;
}
