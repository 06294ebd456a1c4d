//! Function headers: symbol, C type, parameters.

use program::{CType, Function, FunctionId, Linkage, Param, Ty, TypeId, UnitId};

use super::Unit;
use super::constants::read_ty;
use super::globals::read_linkage;
use super::reader::{Read, Reader};

const IS_VARIADIC: u32 = 1;
const IS_NO_RETURN: u32 = 2;
const IS_CONSTRUCTOR: u32 = 4;
const IS_DESTRUCTOR: u32 = 8;
const HAS_BODY: u32 = 16;

impl Unit<'_> {
    /// Reads the headers and returns which functions have bodies, in the order of the bodies.
    pub fn read_headers(&mut self, reader: &mut Reader) -> Read<Vec<FunctionId>> {
        let mut defined = Vec::new();
        for _ in 0..reader.count()? {
            let (function, has_body) = self.read_header(reader)?;
            let id = self.functions.push(function);
            if has_body {
                defined.push(id);
            }
        }
        for _ in 0..reader.count()? {
            let alias = self.read_function_alias(reader)?;
            self.functions.push(alias);
        }
        Ok(defined)
    }

    fn read_header(&mut self, reader: &mut Reader) -> Read<(Function, bool)> {
        let name = reader.text()?;
        let linkage = read_linkage(reader)?;
        let flags = reader.small()?;
        let result = read_ty(reader)?;
        let ctype = self.types.numbered(reader.small()?);
        let loc = self.locs.at(reader.small()?, 0);
        let mut params = (0..reader.count()?)
            .map(|_| {
                let ty = read_ty(reader)?;
                let by_value = reader.number()?.checked_sub(1);
                let is_struct_return = reader.flag()?;
                Ok(Param { variable: None, ty, ctype: TypeId::UNKNOWN, by_value, is_struct_return })
            })
            .collect::<Read<Vec<_>>>()?;
        self.type_params(&mut params, ctype);
        let function = Function {
            name,
            unit: UnitId(0),
            linkage,
            result,
            ctype,
            params,
            is_variadic: flags & IS_VARIADIC != 0,
            is_noreturn: flags & IS_NO_RETURN != 0,
            is_constructor: flags & IS_CONSTRUCTOR != 0,
            is_destructor: flags & IS_DESTRUCTOR != 0,
            alias_of: None,
            loc,
            body: None,
        };
        Ok((function, flags & HAS_BODY != 0))
    }

    /// Gives machine-level parameters the types of the C parameters where they correspond one
    /// to one; a struct passed in registers breaks that, and its pieces stay untyped.
    fn type_params(&mut self, params: &mut [Param], function: TypeId) {
        let CType::Function { result, params: declared, .. } = self.types.strip(function).clone()
        else {
            return;
        };
        let (hidden, params) = match params.split_first_mut() {
            Some((first, rest)) if first.is_struct_return => (Some(first), rest),
            _ => (None, params),
        };
        if let Some(hidden) = hidden {
            hidden.ctype = self.types.pointer_to(result);
        }
        if params.len() != declared.len() {
            return;
        }
        for (param, ctype) in params.iter_mut().zip(declared) {
            let is_record = self.types.record_of(ctype).is_some();
            param.ctype = match param.ty {
                Ty::Ptr if is_record => self.types.pointer_to(ctype),
                _ if is_record => TypeId::UNKNOWN,
                _ => ctype,
            };
        }
    }

    fn read_function_alias(&mut self, reader: &mut Reader) -> Read<Function> {
        let name = reader.text()?;
        let linkage = read_linkage(reader)?;
        let target = if reader.flag()? { Some(FunctionId(reader.small()?)) } else { None };
        let target = target.and_then(|target| self.functions.get(target));
        Ok(match target {
            Some(target) => Function {
                name,
                linkage,
                alias_of: Some(target.name.clone()),
                body: None,
                ..target.clone()
            },
            // Chosen when the program starts: code outside the program.
            None => unresolved(name, linkage),
        })
    }
}

fn unresolved(name: Box<str>, linkage: Linkage) -> Function {
    Function {
        name,
        unit: UnitId(0),
        linkage,
        result: Ty::Void,
        ctype: TypeId::UNKNOWN,
        params: Vec::new(),
        is_variadic: false,
        is_noreturn: false,
        is_constructor: false,
        is_destructor: false,
        alias_of: None,
        loc: program::LocId::UNKNOWN,
        body: None,
    }
}
