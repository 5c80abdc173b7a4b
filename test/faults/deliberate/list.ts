import type { DeliberateFault } from './deliberate-fault.ts';
import { auditFaults } from './audits.ts';
import { endingFaults } from './endings.ts';
import { claimFaults } from './claims-and-copies.ts';
import { frameFaults } from './frames.ts';
import { neighbourFaults } from './neighbours.ts';
import { outageFaults } from './outages.ts';
import { peerFaults } from './peers-and-restores.ts';
import { simulatedFaults } from './simulation.ts';
import { sweepFaults } from './sweeps.ts';

export const deliberateFaults: DeliberateFault[] = [
  ...frameFaults,
  ...endingFaults,
  ...auditFaults,
  ...neighbourFaults,
  ...outageFaults,
  ...peerFaults,
  ...sweepFaults,
  ...claimFaults,
  ...simulatedFaults,
  {
    says: 'A reserve that was refused after a try without an answer is not refunded',
    file: 'packages/creation/src/quota-client.ts',
    find: `if (reply.outcome !== 'granted') await refund(id, subject);`,
    replace: '',
    caughtBy: {
      file: 'services/images/test/quota-replicas.outage.test.ts',
      test: 'a reserve that a frozen quota replica grants long after the call was refused charges no unit',
    },
  },
  {
    says: 'A commit whose reply was lost is not read back, and the submit does not go on',
    file: 'services/tasks/src/use-cases/create/submit-task.ts',
    find: '.catch((error: unknown) => readBack(db, task, error));',
    replace: ';',
    caughtBy: {
      file: 'services/tasks/test/lost-commits.outage.test.ts',
      test: 'a create request whose commit succeeded with a lost reply continues and runs',
    },
  },
  {
    says: 'Units that a dead create holds are counted as used when a new one asks',
    file: 'services/tasks/src/use-cases/create/assert-accepts-new.ts',
    find: '(await deps.refundDeadCreates(caller.subject)) > 0',
    replace: 'refundDeadCreates.length < 0',
    caughtBy: {
      file: 'services/tasks/test/crashes.outage.test.ts',
      test: "a repeat after a crash on the day's last unit gets that unit",
    },
  },
  {
    says: 'A create request is sent to the next day while another one may still be refunded',
    file: 'services/tasks/src/use-cases/create/refuse-exhausted.ts',
    find: 'mayBeRefunded ? UNDECIDED_RETRY_S : undefined',
    replace: 'mayBeRefunded ? undefined : undefined',
    caughtBy: {
      file: 'services/tasks/test/crashes.outage.test.ts',
      test: "suggests a retry soon for a new key while a dead create request holds the day's last unit",
    },
  },
  {
    says: 'An operator may say not_created of a task whose job the backend shows',
    file: 'services/tasks/src/use-cases/operate/verify-task.ts',
    find: 'await refuseAgainstProof(deps, task);',
    replace: 'await deps.inference.stopJob(task.taskId);',
    caughtBy: {
      file: 'services/tasks/test/verification.test.ts',
      test: 'not created is refused with evidence when the backend has the job, which continues and is found',
    },
  },
  {
    says: 'A total outage opens the breaker only when more than half of all calls in the window failed',
    file: 'packages/shared/src/http/breaker.ts',
    find: 'if (isOutage && circuit.closed) circuit.open();',
    replace: '',
    caughtBy: {
      file: 'packages/shared/src/http/breaker.test.ts',
      test: 'on a busy system 20 failures after the last success open it',
    },
  },
  {
    says: 'A consumer goes on although its row is elsewhere, as after a failover that lost commits',
    file: 'packages/kafka/src/positions.ts',
    find: 'if (accepted === undefined || found.row !== accepted.row) throw found;',
    replace:
      'if (accepted === undefined) return void (await update(tx, position, { ...span, from: found.row ?? 0n }));',
    caughtBy: {
      file: 'packages/kafka/test/positions.test.ts',
      test: 'reads again what its database has lost, while it runs, and stores all of it once',
    },
  },
  {
    says: 'The same, as the fault suite sees it when the database fails over under load',
    file: 'packages/kafka/src/positions.ts',
    find: 'if (accepted === undefined || found.row !== accepted.row) throw found;',
    replace:
      'if (accepted === undefined) return void (await update(tx, position, { ...span, from: found.row ?? 0n }));',
    caughtBy: { invariant: 'lost', seed: 7, minutes: 0.1, failovers: 1 },
  },
];
