/** Questions an analyst asks, ready to play in GraphiQL; docs/graphql.md explains them and test/e2e/analyst.test.ts runs them. */
export interface Example {
  readonly name: string;
  readonly question: string;
  readonly query: string;
}

const list: Record<string, { question: string; query: string }> = {
  earnedByAgent: {
    question: 'Which agents earned us most in the last seven days?',
    query: `query earnedByAgent {
  tenant {
    agents(window: { lastDays: 7 }, orderBy: EARNED, first: 10) {
      nodes { agent earnedMicro paid hits }
    }
  }
}`,
  },
  authorsWaiting: {
    question: 'Which authors wait for money of the last 30 days, and why?',
    query: `query authorsWaiting {
  tenant {
    reconciliation(window: { lastDays: 30 }) {
      outstanding { legs amountMicro }
      waiting(first: 20) {
        nodes { wallet amountMicro legs oldestAt reasons { reason legs amountMicro } }
      }
    }
  }
}`,
  },
  pathsRefused: {
    question: 'Which pages are refused most, and what did we miss there?',
    query: `query pathsRefused {
  tenant {
    audit(window: { lastDays: 7 }, groupBy: SLUG) {
      breakdown(orderBy: DENIED, first: 10) {
        nodes { key denied hits missedMicro }
      }
    }
  }
}`,
  },
  weekAgainstWeek: {
    question: 'What did we earn this week, compared with the week before?',
    query: `query weekAgainstWeek {
  tenant {
    earnings(window: { lastDays: 7 }, compare: true) {
      totals { grossMicro events reads citations authors }
      previous { grossMicro events }
    }
  }
}`,
  },
  bestPages: {
    question: 'Which pages earn most?',
    query: `query bestPages {
  tenant {
    earnings(window: { lastDays: 30 }, groupBy: SLUG) {
      breakdown(first: 10) {
        totalCount
        nodes { key grossMicro reads citations }
      }
    }
  }
}`,
  },
  statements: {
    question: 'What was each author paid, and for what?',
    query: `query statements {
  tenant {
    statements(window: { lastDays: 30 }) {
      totalMicro
      statements(first: 5) {
        nodes {
          wallet authorId grossMicro
          lines(first: 3) { nodes { slug kind amountMicro share at } }
        }
      }
    }
  }
}`,
  },
  failedPayments: {
    question: 'Why do payments fail, and which were the last ones?',
    query: `query failedPayments {
  tenant {
    audit(window: { lastDays: 7 }) { totals { paymentFailed failedMicro failedByReason { reason count } } }
    observations(filter: { verdicts: [PAYMENT_FAILED], window: { lastDays: 7 } }, first: 10) {
      nodes { reason agent slug amountMicro at }
    }
    payments(filter: { states: [FAILED], window: { lastDays: 7 } }, first: 10) {
      nodes { paymentId reason sentence payer slug amountMicro acceptedAt }
    }
  }
}`,
  },
  paymentOnChain: {
    question: 'Where is the money of the newest payments: state, transaction, workflow?',
    query: `query paymentOnChain {
  tenant {
    payments(first: 5) {
      nodes {
        paymentId state amountMicro
        evidence { txHash blockNumber finalAt }
        batch { workflowId state }
        crossings { amountMicro legs { toAddress amountMicro role } }
      }
    }
  }
}`,
  },
  masqueraders: {
    question: 'Who pretends to be somebody else?',
    query: `query masqueraders {
  tenant {
    audit(window: { lastDays: 7 }) { totals { masqueradeAttempts verifiedHits agentHits verifiedEarnedMicro earnedMicro } }
    observations(filter: { sigInvalid: true, window: { lastDays: 7 } }, first: 10) {
      nodes { agent agentUa sigInvalid verdict slug at }
    }
  }
}`,
  },
  webhooksHealth: {
    question: 'Do our webhooks arrive?',
    query: `query webhooksHealth {
  tenant {
    webhookEndpoints { nodes { origin enabled failuresInRow disabledReason } }
    deliveries(first: 5) {
      totalCount
      nodes { state reason event { type createdAt } attempts { status durationMs reason } }
    }
  }
}`,
  },
  revenueByDay: {
    question: 'What did we earn on each of the last 28 days, by our own clock?',
    query: `query revenueByDay {
  tenant {
    earnings(window: { named: LAST_28_DAYS, timeZone: "Europe/Berlin" }) {
      totals { grossMicro events }
      series(every: DAY, timeZone: "Europe/Berlin") { from grossMicro events }
    }
  }
}`,
  },
  authorsByWeek: {
    question: 'Which authors earn more than a week before, and which less?',
    query: `query authorsByWeek {
  tenant {
    earnings(window: { named: THIS_WEEK, timeZone: "Europe/Berlin" }, compare: true, groupBy: AUTHOR_ID) {
      breakdown(first: 20) { nodes { key grossMicro previous { grossMicro } } }
    }
  }
}`,
  },
  repeatBuyers: {
    question: 'How many buyers came back, and what did they bring?',
    query: `query repeatBuyers {
  tenant {
    earnings(window: { lastDays: 7 }, groupBy: PAYER_HISTORY) {
      breakdown { nodes { key payers events grossMicro } }
    }
  }
}`,
  },
  medianPrice: {
    question: 'What does a page cost, in the middle and at the top, and what do licences bring?',
    query: `query medianPrice {
  tenant {
    pages: earnings(window: { lastDays: 30 }, purpose: PAGE) { totals { grossMicro } prices { smallest median p95 largest } }
    licences: earnings(window: { lastDays: 30 }, purpose: LICENCE) { totals { grossMicro events } }
  }
}`,
  },
  licencesEnding: {
    question: 'Which licences end within two weeks?',
    query: `query licencesEnding {
  tenant {
    licencesSold(filter: { endsWithinDays: 14 }, orderBy: ENDING) {
      totalCount
      nodes { jti host until amountMicro }
    }
  }
}`,
  },
  pretenders: {
    question: 'Which agents are others taken for most, and when?',
    query: `query pretenders {
  tenant {
    agents(window: { lastDays: 7 }, orderBy: MASQUERADES, first: 5) { nodes { agent masqueradeAttempts hits } }
    audit(window: { lastDays: 7 }) { series(every: DAY, timeZone: "Europe/Berlin") { from totals { masqueradeAttempts } } }
  }
}`,
  },
  failingWebhooks: {
    question: 'Which webhooks fail just now, and why?',
    query: `query failingWebhooks {
  tenant {
    deliveries(filter: { failing: true }, first: 10) {
      totalCount
      nodes { dueAt event { type } endpoint { origin failuresInRow } attempts { status reason } }
    }
  }
}`,
  },
  timeToFinal: {
    question: 'How long from a sale until it is settled, and until it is final?',
    query: `query timeToFinal {
  tenant {
    settlementTimes(window: { lastDays: 7 }) {
      settled { payments p50Ms p95Ms }
      final { payments p50Ms p95Ms }
    }
  }
}`,
  },
};

/** All of them, in the order of the documentation. */
export const EXAMPLES: readonly Example[] = Object.entries(list).map(([name, example]) => ({ name, ...example }));
