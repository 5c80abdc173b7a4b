import { z } from 'zod';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listAlarmRules } from '../use-cases/rules/list-alarm-rules.ts';
import { alarmRule, exampleRule, ruleBody } from './alarm-rule.ts';

const ruleList = z.object({ items: z.array(alarmRule) }).meta({ id: 'AlarmRuleList' });

export const listAlarmRulesRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'listAlarmRules',
      method: 'get',
      path: '/v1/vision/alarm-rules',
      summary: 'Lists your alarm rules',
      tag: 'Alarms',
      audience: 'public',
      responses: {
        200: { description: 'All rules, by `rule_id`', schema: ruleList, example: { items: [exampleRule] } },
      },
    },
    async ({ caller }) => ({
      status: 200,
      body: { items: (await listAlarmRules(deps, caller.subject)).map(ruleBody) },
    }),
  );
