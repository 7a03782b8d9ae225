import { builder } from '../schema/builder.ts';
import './credits.ts';
import './deliveries.ts';
import './discovery.ts';
import './endpoints.ts';
import './gate.ts';
import './hosts.ts';
import './keys.ts';
import './legal.ts';
import './licences.ts';
import './members.ts';
import './networks.ts';
import './pages.ts';
import './priceRules.ts';
import './prices.ts';
import './receipts.ts';
import './rows.ts';
import './statements.ts';
import './anomalyRules.ts';
import './sites.ts';

builder.mutationType({
  description:
    "What owners change about their sites. It takes an owner's token; a key is refused. Each change is one entry of the audit log, written with it. Expected refusals are results; a suspended site is only read.",
});
