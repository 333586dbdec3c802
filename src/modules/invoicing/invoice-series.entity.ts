import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** Next number of a series. Taking a number locks the row until the transaction ends, so that there are no gaps. */
@Entity('invoice_series')
@Check('invoice_series_next_check', '"next_number" >= 1')
export class InvoiceSeriesEntity {
  @PrimaryColumn({ type: 'varchar', length: 40 }) readonly name!: string;
  @Column({ type: 'bigint' }) readonly nextNumber!: string;
}
