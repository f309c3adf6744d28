//! Amnesiac: killed anywhere and started again, or without its memory, a controller still gets there.

use flyball_plan::Answer;

use super::Lawful;
use crate::{Moment, Runner, World};

/// What a killed run ends with.
const KILLED: &str = "killed";

/// Kills the controller after so many writes as each death says, each time starting it anew with
/// nothing but the world; finds the same end as without any death. The same without memory at any
/// stage.
pub fn amnesiac<C: Lawful>(world: World, deaths: &[u8]) -> Result<(), String> {
    let mut undisturbed = world.clone();
    run::<C>(&mut undisturbed, None)?;
    let mut forgetting = world.clone();
    let mut runner = Runner::new(C::subject(), &forgetting).forgetful();
    runner.converge(&mut forgetting, C::others, &mut |_| Ok(()))?;
    super::essence::same::<C>(&undisturbed, &forgetting)?;
    let mut world = world;
    for death in deaths {
        // Small numbers are worth most: few worlds need many writes.
        run::<C>(&mut world, Some(usize::from(death % 16)))?;
    }
    run::<C>(&mut world, None)?;
    C::reached(&world)?;
    super::essence::same::<C>(&undisturbed, &world)
}

/// One life: until all is settled, or until it has survived so many writes.
fn run<C: Lawful>(world: &mut World, survives: Option<usize>) -> Result<(), String> {
    let mut left = survives;
    let mut watch = |moment: Moment<'_>| {
        if let Moment::After {
            answer: Answer::Done(_),
            action,
            ..
        } = moment
            && action.is_write()
        {
            left = match left {
                Some(0) => return Err(KILLED.to_owned()),
                left => left.map(|left| left - 1),
            };
        }
        Ok(())
    };
    match Runner::new(C::subject(), world).converge(world, C::others, &mut watch) {
        Err(why) if why != KILLED => Err(why),
        _ => Ok(()),
    }
}
