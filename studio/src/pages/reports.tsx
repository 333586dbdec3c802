import type { ReactNode } from 'react';
import { Page } from '../ui/page';
import { CollectionResults } from './collection-results';
import { EarnedRevenue } from './earned-revenue';
import { RecurringRevenue, RevenueChanges } from './recurring-revenue';
import { Receivables } from './receivables';

export function ReportsPage(): ReactNode {
  return (
    <Page title="Reports">
      <RecurringRevenue shows="movements" />
      <RevenueChanges />
      <EarnedRevenue />
      <CollectionResults />
      <Receivables isByCustomer={false} />
      <Receivables isByCustomer />
    </Page>
  );
}
