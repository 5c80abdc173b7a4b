import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import { ruleNotFound } from '../domain/alarm-rule.ts';
import { deleteAlarmRule } from '../use-cases/rules/delete-alarm-rule.ts';
import type { Deps } from '../use-cases/deps.ts';
import { tooManyRuleChanges } from '../use-cases/rules/rule-changes.ts';

const path = '/v1/vision/alarm-rules/{rule_id}';

export const deleteAlarmRuleRoute = (deps: Pick<Deps, 'db' | 'signals' | 'wakeRelay' | 'ruleChanges'>) =>
  route(
    {
      operation: 'deleteAlarmRule',
      method: 'delete',
      path,
      summary: 'Deletes an alarm rule',
      description:
        'Closes the open alarms of the rule within seconds; its alarms stay readable. Repeating the request changes ' +
        'nothing. Long after the deletion a repeat answers 404 `rule_not_found`, as for a rule that never existed.',
      tag: 'Alarms',
      audience: 'public',
      params: paramsOf(path),
      responses: { 204: { description: 'Deleted' } },
      refusalExamples: () => [ruleNotFound(), tooManyRuleChanges(24_000)],
    },
    async ({ params, caller: { subject } }) => {
      await deleteAlarmRule(deps, { subject, ruleId: params['rule_id'] ?? '' });
      return { status: 204 };
    },
  );
