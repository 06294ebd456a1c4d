//! Plain serialisable results of every analysis: the JSON contract.
